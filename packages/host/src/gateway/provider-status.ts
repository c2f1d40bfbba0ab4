/**
 * Providers as the clients of a session see them: each is one customization with its state and an off switch, and has
 * details in the session's metadata. Never shows the text that a provider gives to the model.
 */

import { isDeepStrictEqual } from 'node:util';
import { isProviderId, PROVIDER_ID_PREFIX } from '@atrium/core/contracts/extension.js';
import type { SessionStep } from '@atrium/core/sessions/session-observer.js';
import type { Clock } from '@atrium/core/util/clock.js';
import { shorten } from '@atrium/core/util/text.js';
import type { ChildCustomization, Customization, CustomizationLoadState } from '@atrium/protocol/ahp-1';
import { degradedText } from './authorize.js';
import { type GatewaySession, gatewayMeta, type ProviderGroup } from './gateway-session.js';
import type { GatewayService } from './ports.js';
import { type Binding, extensionId } from './provider.js';

/** How many switched-off names a session remembers, more than people ever switch off. The oldest are dropped first. */
const SWITCHED_OFF_MAX = 100;
/** How many tool names the metadata of a session lists for each provider; `toolCount` says how many there are. */
export const TOOLS_DESCRIBED_MAX = 20;
/**
 * Longer metadata is sent only after providers have stopped coming and going, because clients get all of it each time.
 */
const DESCRIBED_AT_ONCE_MAX_CHARACTERS = 2_000;
/** Longer metadata is sent after this long without a provider coming or going. */
export const DESCRIBED_QUIET_MS = 250;
/** Longer metadata that keeps changing is sent after this time. */
export const DESCRIBED_WITHIN_MS = 2_000;
/** How much of a rule's tool name its label shows. */
const MATCHER_MAX_CHARACTERS = 100;

interface ProviderStatusOptions {
  readonly clock: Pick<Clock, 'after'>;
  /** Names and messages of providers that the folder lists and that were not connected when a call needed them. */
  missing(session: GatewaySession): ReadonlyMap<string, string>;
  /** Shows a note to the people in a session. */
  note(session: GatewaySession, from: string, text: string): void;
}

export class ProviderStatus implements GatewayService {
  /** Names whose entries may have changed in this tick. */
  readonly #changed = new Map<GatewaySession, Set<string>>();
  /** The notes that people have seen, so that each appears only once. */
  readonly #shownNotes = new WeakMap<GatewaySession, Set<string>>();

  /** Sessions whose metadata must be sent, with the functions that cancel the waiting. */
  readonly #undescribed = new Map<GatewaySession, { readonly stopWaiting: () => void; stopQuiet: () => void }>();

  constructor(private readonly options: ProviderStatusOptions) {}

  /** After a crash the state still lists the providers of the earlier run and their tools. */
  opened(session: GatewaySession): void {
    for (const name of gatewayMeta(session.state).off ?? []) session.setEnabled(name, false);
    const stale = (session.state.customizations ?? []).filter(({ id }) => isProviderId(id));
    for (const { id } of stale) session.write({ type: 'session/customizationRemoved', id });
    if (stale.length > 0) session.extensions.changed();
    this.#describe(session);
  }

  /** Publishes at the end of the tick, so that of many changes only the outcome is stored. */
  changed({ session, name }: ProviderGroup): void {
    const names = this.#changed.get(session);
    if (names) return void names.add(name);
    this.#changed.set(session, new Set([name]));
    queueMicrotask(() => this.#publishChanged(session));
  }

  /** A person switched a provider off or on. */
  observe(session: GatewaySession, { action }: SessionStep): void {
    if (action.type !== 'session/customizationToggled' || !isProviderId(action.id)) return;
    const group = session.group(action.id.slice(PROVIDER_ID_PREFIX.length));
    const isShown = group.bindings.length > 0 || this.#isMissing(group);
    const isEnabled = action.enablement[0]?.enabled ?? true;
    if (!isShown || session.isEnabled(group.name) === isEnabled) return;
    session.setEnabled(group.name, isEnabled);
    const off = session.disabled.slice(-SWITCHED_OFF_MAX);
    session.writeMeta({ off });
    if (!isEnabled && isGuarding(group))
      this.options.note(session, group.name, 'is switched off; its checks on tools do not apply');
  }

  #publishChanged(session: GatewaySession): void {
    const names = this.#changed.get(session) ?? [];
    this.#changed.delete(session);
    for (const name of names) this.#publish(session.group(name));
    this.#describe(session);
  }

  #publish(group: ProviderGroup): void {
    const { session, name } = group;
    const id = extensionId(name);
    const known = session.state.customizations?.find((entry) => entry.id === id);
    if (group.bindings.length > 0 || this.#isMissing(group)) this.#update(group, known);
    else if (known) session.write({ type: 'session/customizationRemoved', id });
  }

  #update(group: ProviderGroup, known: Customization | undefined): void {
    const entry: Customization = {
      type: 'plugin',
      id: extensionId(group.name),
      uri: extensionId(group.name),
      name: group.name,
      ...enablementOf(group, known),
      load: this.#load(group),
      children: childrenOf(group),
    };
    if (isDeepStrictEqual(entry, known)) return;
    group.session.write({ type: 'session/customizationUpdated', customization: entry });
  }

  /** A missing provider that was switched off blocks nothing, but keeps its entry, where people can switch it on. */
  #isMissing({ session, name }: ProviderGroup): boolean {
    const isKnown = session.state.customizations?.some(({ id }) => id === extensionId(name)) ?? false;
    return this.options.missing(session).has(name) || (isKnown && !session.isEnabled(name));
  }

  #load(group: ProviderGroup): CustomizationLoadState {
    if (group.bindings.length === 0)
      return { kind: 'error', message: this.options.missing(group.session).get(group.name) ?? 'Not connected' };
    if (group.bindings.every(({ isAway }) => isAway)) return { kind: 'degraded', message: 'Reconnecting' };
    const [degraded] = degradedText(group);
    if (degraded === undefined) return { kind: 'loaded' };
    this.#noteOnce(group, degraded);
    return { kind: 'degraded', message: degraded };
  }

  #noteOnce({ session, name }: ProviderGroup, text: string): void {
    const shown = this.#shownNotes.get(session) ?? new Set();
    this.#shownNotes.set(session, shown);
    if (shown.has(`${name} ${text}`)) return;
    shown.add(`${name} ${text}`);
    this.options.note(session, name, text);
  }

  #describe(session: GatewaySession): void {
    const providers = session.bindings.map(describe);
    const text = JSON.stringify(providers);
    if (text === JSON.stringify(gatewayMeta(session.state).providers ?? [])) return this.#endWaiting(session);
    if (text.length > DESCRIBED_AT_ONCE_MAX_CHARACTERS) return this.#describeWhenQuiet(session);
    this.#endWaiting(session);
    session.writeMeta({ providers });
  }

  #describeWhenQuiet(session: GatewaySession): void {
    const { clock } = this.options;
    const note = () => {
      this.#endWaiting(session);
      if (!session.isClosed) session.writeMeta({ providers: session.bindings.map(describe) });
    };
    const waiting = this.#undescribed.get(session) ?? {
      stopWaiting: clock.after(DESCRIBED_WITHIN_MS, note),
      stopQuiet: () => {},
    };
    waiting.stopQuiet();
    waiting.stopQuiet = clock.after(DESCRIBED_QUIET_MS, note);
    this.#undescribed.set(session, waiting);
  }

  #endWaiting(session: GatewaySession): void {
    const waiting = this.#undescribed.get(session);
    waiting?.stopWaiting();
    waiting?.stopQuiet();
    this.#undescribed.delete(session);
  }
}

/** A decision of a client stays in the client's words. On is the default, and needs no decision. */
function enablementOf({ session, name }: ProviderGroup, known: Customization | undefined) {
  const decided = known?.type === 'plugin' ? known.enablement : undefined;
  const isOn = session.isEnabled(name);
  if (decided && (decided[0]?.enabled ?? true) === isOn) return { enablement: decided };
  return isOn ? {} : { enablement: [{ kind: 'session' as const, enabled: false }] };
}

function isGuarding({ bindings }: ProviderGroup): boolean {
  return bindings.some(({ rules }) => rules.some(({ action }) => action !== 'context'));
}

/** One instance of a provider, for programs. */
function describe({ provider, tools, context, startupContext, isAway }: Binding): object {
  const { name, instance, providerId, trust } = provider;
  return {
    name,
    ...(instance !== undefined && { instance }),
    providerId,
    trust,
    tools: [...tools.keys()].slice(0, TOOLS_DESCRIBED_MAX),
    ...(tools.size > TOOLS_DESCRIBED_MAX && { toolCount: tools.size }),
    ...((context !== '' || startupContext !== '') && { context: true }),
    ...(isAway && { away: true }),
  };
}

/** Lists the rules and prompt changes by what they are about. */
function childrenOf({ name, bindings }: ProviderGroup): ChildCustomization[] {
  const base = extensionId(name);
  return bindings.flatMap((binding) => {
    const { instance } = binding.provider;
    const of = instance === undefined ? base : `${base}/${instance}`;
    return [...hooksOf(binding, of), ...rulesOf(binding, of)];
  });
}

function hooksOf({ rules }: Binding, of: string): ChildCustomization[] {
  return rules.map(({ match, action }, index) => {
    const id = `${of}#hook=PreToolUse:${index + 1}`;
    const matcher = shorten(match.tool ?? '*', MATCHER_MAX_CHARACTERS);
    // `event` and `matcher` are additional members, which every client must tolerate.
    const hook = { type: 'hook' as const, id, uri: id, name: `${action} ${matcher}`, event: 'PreToolUse', matcher };
    return hook;
  });
}

function rulesOf({ transforms }: Binding, of: string): ChildCustomization[] {
  return [...transforms].map(([section, { action }]) => {
    const id = `${of}#rule=${section}`;
    return { type: 'rule', id, uri: id, name: section, description: `${action} ${section}` };
  });
}
