/** Binding: a `hello` becomes a provider in one session, in all of them, or comes back as the one it was before. */
import {
  grantOf,
  PROVIDER_PROTOCOL_VERSION,
  type ProviderHelloAckMessage,
  type ProviderHelloMessage,
  type TrustLevel,
} from '@atrium/protocol/provider';
import { type Access, isOpenTo } from './access.js';
import { authorizeHello } from './authorize.js';
import { invalidSession, shown, unauthorized } from './gateway-error.js';
import { compileRules } from './hooks/rules.js';
import { checkTransforms } from './hooks/transforms.js';
import { type Binding, EMPTY_REGISTRATION, type Provider, type Registration } from './provider.js';
import type { Room } from './room.js';

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
