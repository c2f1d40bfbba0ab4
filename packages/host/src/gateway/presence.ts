/**
 * Providers as the clients of a session see them: one customization each, with how it is doing and an off switch, and
 * the details in the session's metadata. Never the text that they give to the model.
 */
import type { ChildCustomization, Customization, CustomizationLoadState, SessionState } from '@atrium/protocol';
import type { Step } from '../channels/channel.js';
import { gatewayMeta, withGatewayMeta } from './meta.js';
import type { Binding } from './provider.js';
import { extensionId, type Group, type Room } from './room.js';
import type { GatewayService } from './service.js';

const PREFIX = extensionId('');

export interface PresenceParts {
  /** What the agent of the session cannot do for a provider, in words for people. */
  degraded(group: Group): readonly string[];
}

export class Presence implements GatewayService {
  constructor(private readonly parts: PresenceParts) {}

  /** After a crash the state still lists those who were here; they are not. */
  opened(room: Room): void {
    const stale = (room.session.state.customizations ?? []).filter(({ id }) => id.startsWith(PREFIX));
    for (const { id } of stale) room.session.write({ type: 'session/customizationRemoved', id });
    this.#describe(room);
  }

  /** The extension of a provider changed, so its entry may have changed too. */
  changed(group: Group): void {
    const { room, name } = group;
    const id = extensionId(name);
    const known = room.session.state.customizations?.find((entry) => entry.id === id);
    if (group.bindings.length > 0) this.#publish(group, known);
    else if (known) room.session.write({ type: 'session/customizationRemoved', id });
    this.#describe(room);
  }

  /** Somebody switched one off or on. */
  observe(room: Room, { envelope }: Step<SessionState>): void {
    const { action } = envelope;
    if (action.type !== 'session/customizationToggled' || !action.id.startsWith(PREFIX)) return;
    room.setEnabled(action.id.slice(PREFIX.length), action.enabled);
  }

  #publish(group: Group, known: Customization | undefined): void {
    const entry: Customization = {
      type: 'plugin',
      id: extensionId(group.name),
      uri: extensionId(group.name),
      name: group.name,
      enabled: group.room.isEnabled(group.name),
      load: this.#load(group),
      children: childrenOf(group),
    };
    if (JSON.stringify(entry) === JSON.stringify(known)) return;
    group.room.session.write({ type: 'session/customizationUpdated', customization: entry });
  }

  #load(group: Group): CustomizationLoadState {
    if (group.bindings.every(({ isAway }) => isAway)) return { kind: 'degraded', message: 'Reconnecting' };
    const [degraded] = this.parts.degraded(group);
    return degraded === undefined ? { kind: 'loaded' } : { kind: 'degraded', message: degraded };
  }

  #describe(room: Room): void {
    const { session } = room;
    const providers = room.bindings.map(describe);
    const known = gatewayMeta(session.state).providers ?? [];
    if (JSON.stringify(providers) === JSON.stringify(known)) return;
    session.write({ type: 'session/metaChanged', _meta: withGatewayMeta(session.state, { providers }) });
  }
}

function describe({ provider, tools, context, startupContext, isAway }: Binding): object {
  const { name, instance, providerId, trust } = provider;
  return {
    name,
    ...(instance !== undefined && { instance }),
    providerId,
    trust,
    tools: [...tools.keys()],
    ...((context !== '' || startupContext !== '') && { context: true }),
    ...(isAway && { away: true }),
  };
}

/** Rules and prompt changes by what they are about, without their text. */
function childrenOf({ name, bindings }: Group): ChildCustomization[] {
  const base = extensionId(name);
  return bindings.flatMap(({ provider, rules, transforms }) => {
    const of = provider.instance === undefined ? base : `${base}/${provider.instance}`;
    return [
      ...rules.map(({ match, action }, index): ChildCustomization => {
        const id = `${of}#hook=PreToolUse:${index + 1}`;
        const matcher = match.tool ?? '*';
        // The last two are additional members, which every client has to tolerate.
        const hook = { type: 'hook' as const, id, uri: id, name: `${action} ${matcher}`, event: 'PreToolUse', matcher };
        return hook;
      }),
      ...[...transforms].map(([section, { action }]): ChildCustomization => {
        const id = `${of}#rule=${section}`;
        return { type: 'rule', id, uri: id, name: section, description: `${action} ${section}` };
      }),
    ];
  });
}
