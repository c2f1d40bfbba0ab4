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
import { invalidSession, unauthorized } from './gateway-error.js';
import { compileRules } from './hooks/rules.js';
import { EMPTY_REGISTRATION, type Registration } from './provider.js';
import type { Room } from './room.js';

/** Where a `hello` wants to be. `everywhere` includes the sessions to come. */
export interface Place {
  readonly rooms: readonly Room[];
  readonly isEverywhere: boolean;
}

/** Everything about a `hello` that can be said without knowing who else is there. Throws what is wrong with it. */
export function judgeHello(hello: ProviderHelloMessage, access: Access, rooms: readonly Room[]): Place {
  authorizeHello(access.trust, hello);
  compileRules(hello.hooks?.onPreToolUse ?? []);
  if (access.token?.name !== undefined && access.token.name !== hello.name)
    throw unauthorized(`this token belongs to ${access.token.name}: connect with another one`);
  return placeOf(hello, access, rooms);
}

function placeOf({ session }: ProviderHelloMessage, access: Access, rooms: readonly Room[]): Place {
  if (session === 'all') return { rooms, isEverywhere: true };
  const wanted = session ?? access.sessionId ?? onlyOne(rooms);
  const room = rooms.find(({ id }) => id === wanted);
  if (!room || room.isEnding || !isOpenTo(access, room))
    throw invalidSession(`there is no session ${wanted ?? ''} for you: wait for sessions.updated, then choose another`);
  return { rooms: [room], isEverywhere: false };
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

export interface AckFacts {
  readonly providerId: string;
  readonly reconnectToken: string;
  readonly place: Place;
  readonly trust: TrustLevel;
  readonly persistDir: string | undefined;
  readonly degraded: readonly string[];
}

/** Members that the contract does not know are legal; this one says what the agent cannot do for the provider. */
type HelloAck = ProviderHelloAckMessage & { degraded?: string[] };

export function helloAck({ providerId, reconnectToken, place, trust, persistDir, degraded }: AckFacts): HelloAck {
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
