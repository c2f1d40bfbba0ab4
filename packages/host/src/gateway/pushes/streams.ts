/** The latest events of every stream, in memory only. A stream belongs to one provider name in one session. */
import {
  EVENTS_PER_STREAM_MAX,
  GatewayErrorCode,
  type ProviderStreamEvent,
  STREAM_QUERY_LAST_MAX,
  STREAMS_PER_PROVIDER_MAX,
} from '@atrium/protocol/provider';
import { GatewayError, tooMany } from '../gateway-errors.js';
import type { GatewaySession } from '../gateway-session.js';
import type { Provider } from '../provider.js';

/** How much a stream keeps, as JSON. It always keeps the newest event. */
export const STREAM_MAX_CHARACTERS = 2 ** 20;
export const STREAM_NAME_MAX_CHARACTERS = 128;
/** A session keeps the streams of this many providers, including those that left; the oldest are dropped first. */
export const PROVIDERS_WITH_STREAMS_MAX = 100;
/** How many streams one query may name. */
export const STREAMS_PER_QUERY_MAX = 100;

export interface StreamName {
  readonly provider: string;
  readonly stream: string;
}

type Owner = Pick<Provider, 'name' | 'trust'>;

interface StreamEvent {
  readonly event: ProviderStreamEvent;
  readonly characters: number;
}

interface Stream {
  /** Oldest first. */
  readonly events: StreamEvent[];
  characters: number;
}

/** All streams of one provider name. */
interface OwnedStreams extends Pick<Owner, 'trust'> {
  readonly streams: Map<string, Stream>;
}

export class Streams {
  readonly #sessions = new WeakMap<GatewaySession, Map<string, OwnedStreams>>();

  /**
   * When a provider is gone its name is free, and a provider of another trust must not read the events that it left.
   */
  claim(session: GatewaySession, { name, trust }: Owner): void {
    const owned = this.#sessions.get(session)?.get(name);
    if (owned && owned.trust !== trust) this.#sessions.get(session)?.delete(name);
  }

  /** Stores an event; throws when the provider has too many streams already. */
  store(session: GatewaySession, owner: Owner, name: string, event: ProviderStreamEvent): void {
    const { streams } = this.#streamsOf(session, owner);
    const stream = streams.get(name) ?? { events: [], characters: 0 };
    if (!streams.has(name)) {
      checkStreamName(name);
      if (streams.size >= STREAMS_PER_PROVIDER_MAX) throw tooMany('streams', STREAMS_PER_PROVIDER_MAX);
      streams.set(name, stream);
    }
    const characters = JSON.stringify(event).length;
    stream.events.push({ event, characters });
    stream.characters += characters;
    evictOld(stream);
  }

  /** The latest events, newest first. */
  latest(session: GatewaySession, { provider, stream }: StreamName, last: number): ProviderStreamEvent[] {
    const kept = this.#keptOf(session, { provider, stream });
    const wanted = Math.min(last, STREAM_QUERY_LAST_MAX);
    return kept
      .slice(Math.max(0, kept.length - wanted))
      .reverse()
      .map(({ event }) => event);
  }

  /** How many events the stream holds, for tests that look for leaks; a query shows fewer. */
  sizeOf(session: GatewaySession, name: StreamName): number {
    return this.#keptOf(session, name).length;
  }

  #keptOf(session: GatewaySession, { provider, stream }: StreamName): readonly StreamEvent[] {
    return this.#sessions.get(session)?.get(provider)?.streams.get(stream)?.events ?? [];
  }

  #streamsOf(session: GatewaySession, { name, trust }: Owner): OwnedStreams {
    const owners = this.#sessions.get(session) ?? new Map<string, OwnedStreams>();
    this.#sessions.set(session, owners);
    const owned = owners.get(name) ?? { trust, streams: new Map() };
    owners.set(name, owned);
    const [first] = owners.keys();
    if (first !== undefined && owners.size > PROVIDERS_WITH_STREAMS_MAX) owners.delete(first);
    return owned;
  }
}

/** Names are stored, and returned with every query. */
export function checkStreamName(name: string): void {
  const max = STREAM_NAME_MAX_CHARACTERS;
  if (name.length > max)
    throw new GatewayError(GatewayErrorCode.PayloadTooLarge, `the name of a stream has at most ${max} characters`);
}

/** Parses `stream@provider`, or the plain name of an own stream. */
export function streamNamed(text: string, ownName: string): StreamName {
  const at = text.lastIndexOf('@');
  return at < 0 ? { stream: text, provider: ownName } : { stream: text.slice(0, at), provider: text.slice(at + 1) };
}

function evictOld(stream: Stream): void {
  const { events: kept } = stream;
  while (kept.length > EVENTS_PER_STREAM_MAX || (stream.characters > STREAM_MAX_CHARACTERS && kept.length > 1)) {
    stream.characters -= kept.shift()?.characters ?? 0;
  }
}
