/** Binding: a `hello` becomes a provider in one session, in all of them, or comes back as the one it was before. */

import { randomUUID } from 'node:crypto';
import {
  grantOf,
  PROVIDER_PROTOCOL_VERSION,
  type ProviderHelloAckMessage,
  type ProviderHelloMessage,
  type ProviderToolDefinition,
  type TrustLevel,
} from '@atrium/protocol/provider';
import { authorizeHello, cannotDo } from './authorize.js';
import { invalidSession, shown, unauthorized } from './errors.js';
import type { Room } from './gateway-session.js';
import { compileRules } from './hooks/rules.js';
import { checkTransforms } from './hooks/transforms.js';
import { duplicate, type Predecessor } from './identities.js';
import { type Binding, EMPTY_REGISTRATION, Provider, type Registration } from './provider.js';
import { type Access, isOpenTo } from './provider-auth.js';

/** Where a `hello` wants to be. `everywhere` includes the sessions to come. */
export interface Place {
  readonly rooms: readonly Room[];
  readonly isEverywhere: boolean;
}

/** Everything about a `hello` that can be said without knowing who else is there. Throws what is wrong with it. */
export function judgeHello(hello: ProviderHelloMessage, access: Access): void {
  authorizeHello(access.trust, hello);
  compileRules(hello.hooks?.onPreToolUse ?? []);
  checkTransforms(new Map(Object.entries(hello.hooks?.transforms ?? {})));
  if (access.token?.name !== undefined && access.token.name !== hello.name)
    throw unauthorized(`this token belongs to ${access.token.name}: connect with another one`);
}

/** Where a `hello` puts a provider. One that comes back and names no session goes where it was. */
export function placeOf(
  { session }: ProviderHelloMessage,
  { access, rooms, before }: { access: Access; rooms: readonly Room[]; before: Provider | undefined },
): Place {
  if (session === 'all' || (session === undefined && before?.isEverywhere)) return { rooms, isEverywhere: true };
  const [earlier] = before?.bindings.keys() ?? [];
  const wanted = session ?? access.sessionId ?? earlier ?? onlyOne(rooms);
  const room = rooms.find(({ id }) => id === wanted);
  if (room && !room.isEnding && isOpenTo(access, room)) return { rooms: [room], isEverywhere: false };
  const which = wanted === undefined ? 'name a session' : `there is no session ${shown(wanted)} for you`;
  throw invalidSession(`${which}: sessions and sessions.updated list them`, wanted);
}

/** A provider in this process that names none means the only one there is. */
function onlyOne(rooms: readonly Room[]): string | undefined {
  return rooms.length === 1 ? rooms[0]?.id : undefined;
}

/** What was brought now, over what it had brought before. */
export function registrationOf(hello: ProviderHelloMessage, before: Registration = EMPTY_REGISTRATION): Registration {
  const { tools, hooks, subscribe, context, startup_context, concurrency, metadata } = hello;
  return {
    tools: tools ? new Map(tools.map((tool) => [tool.name, tool])) : before.tools,
    rules: hooks?.onPreToolUse ?? before.rules,
    transforms: hooks?.transforms ? new Map(Object.entries(hooks.transforms)) : before.transforms,
    subscribe: subscribe ? new Set(subscribe) : before.subscribe,
    context: context === undefined ? before.context : (context ?? ''),
    startupContext: startup_context ?? before.startupContext,
    concurrency: concurrency ?? before.concurrency,
    metadata: metadata ?? before.metadata,
  };
}

/** What was brought now, in a session where it had been before; there it may have changed since its last `hello`. */
export function renew(binding: Binding, { tools, hooks, context }: ProviderHelloMessage): void {
  const { registration } = binding.provider;
  if (tools) binding.tools = registration.tools;
  if (hooks?.onPreToolUse) binding.rules = registration.rules;
  if (hooks?.transforms) binding.transforms = registration.transforms;
  if (context !== undefined) binding.context = registration.context;
  binding.startupContext = registration.startupContext;
  binding.isAway = false;
}

export interface AckFacts {
  readonly providerId: string;
  readonly reconnectToken: string;
  readonly place: Place;
  readonly trust: TrustLevel;
  readonly persistDir: string | undefined;
  readonly degraded: readonly string[];
}

export function helloAck(facts: AckFacts): ProviderHelloAckMessage {
  const { providerId, reconnectToken, place, trust, persistDir, degraded } = facts;
  const [room] = place.rooms;
  return {
    type: 'hello.ack',
    protocolVersion: PROVIDER_PROTOCOL_VERSION,
    providerId,
    reconnectToken,
    ...(!place.isEverywhere && room && { sessionId: room.id }),
    ...(persistDir !== undefined && grantOf('fileResults', trust) && { persistDir }),
    ...(degraded.length > 0 && { degraded: [...degraded] }),
  };
}

/** Whether a `hello` can be taken: who it is, where it wants to be, and whether it fits to those who are there. */

export interface ArrivalParts {
  /** Throws when the name of a provider is kept for another one in a session. */
  checkName(provider: Provider, room: Room): void;
  /** Throws when tools of a provider cannot stand in a session. */
  checkTools(provider: Provider, room: Room, tools: Iterable<ProviderToolDefinition>): void;
  /** What the agent of a session cannot do for a provider. */
  degraded(provider: Provider, room: Room): readonly string[];
  /** What the agent cannot do is refused, instead of only said. */
  readonly isStrict: boolean;
}

export interface ArrivalFacts {
  readonly hello: ProviderHelloMessage;
  readonly access: Access;
  readonly rooms: readonly Room[];
  /** Whose place it takes; throws when the name is taken. */
  claim(reconnectToken: string | undefined): Predecessor | undefined;
}

export interface Arrival {
  /** As it will be. One that comes back stays the object that it was, and becomes like this one. */
  readonly provider: Provider;
  readonly place: Place;
  readonly predecessor: Predecessor | undefined;
}

/** Throws what is wrong with it. Changes nothing. */
export function judgeArrival(parts: ArrivalParts, { hello, access, rooms, claim }: ArrivalFacts): Arrival {
  judgeHello(hello, access);
  const predecessor = claim(hello.reconnectToken ?? undefined);
  const before = predecessor?.isBack ? predecessor.provider : undefined;
  const place = placeOf(hello, { access, rooms, before });
  const provider = new Provider({
    name: hello.name,
    instance: hello.instance,
    trust: access.trust,
    scope: access.sessionId,
    admission: access.token?.id,
    providerId: before?.providerId ?? `p-${randomUUID()}`,
    isEverywhere: place.isEverywhere,
    registration: registrationOf(hello, before?.registration),
  });
  for (const room of place.rooms) {
    const kept = hello.tools ? undefined : before?.bindings.get(room.id)?.tools;
    checkEntry(parts, { provider, room, except: predecessor?.provider, ...(kept && { tools: kept.values() }) });
  }
  return { provider, place, predecessor };
}

export interface Entry {
  readonly provider: Provider;
  readonly room: Room;
  /** Whoever makes room for it does not count. */
  readonly except?: Provider | undefined;
  /** What it brought, when it brings nothing else. */
  readonly tools?: Iterable<ProviderToolDefinition>;
}

/** Whether a provider can stand in a session, beside those who are there. */
export function checkEntry(parts: ArrivalParts, { provider, room, except, tools }: Entry): void {
  const { name, instance, trust, registration } = provider;
  parts.checkName(provider, room);
  for (const { provider: other } of room.group(name).bindings) {
    if (other === except) continue;
    if (other.instance === instance) throw duplicate(provider);
    // Instances share their tools. A stranger must not get the calls that are meant for one of the project.
    if (other.trust !== trust)
      throw unauthorized(`the name ${name} is taken by one of another trust: use another name`);
  }
  parts.checkTools(provider, room, tools ?? registration.tools.values());
  const [degraded] = parts.isStrict ? parts.degraded(provider, room) : [];
  if (degraded !== undefined) throw unauthorized(cannotDo(degraded));
}
