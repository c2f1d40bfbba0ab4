/** The latest events of every stream, in memory only. A stream belongs to one provider name in one session. */
import {
  EVENTS_PER_STREAM_MAX,
  GatewayErrorCode,
  type ProviderStreamEvent,
  STREAM_QUERY_LAST_MAX,
  STREAMS_PER_PROVIDER_MAX,
} from '@atrium/protocol/provider';
import { GatewayError, tooMany } from '../errors.js';
import type { GatewaySession } from '../gateway-session.js';
import type { Provider } from '../provider.js';

/** What a stream keeps, as JSON. The newest event is kept whatever its size. */
export const STREAM_MAX_CHARACTERS = 2 ** 20;
export const STREAM_NAME_MAX_CHARACTERS = 128;
/** Providers whose streams a session keeps, also when they are gone; the first make room. */
export const PROVIDERS_WITH_STREAMS_MAX = 100;
/** Streams that one query may name. */
export const STREAMS_PER_QUERY_MAX = 100;

export interface StreamName {
  readonly provider: string;
  readonly stream: string;
}

export type Owner = Pick<Provider, 'name' | 'trust'>;

interface Kept {
  readonly event: ProviderStreamEvent;
  readonly characters: number;
}

interface Stream {
  /** Oldest first. */
  readonly kept: Kept[];
  characters: number;
}

/** Everything under one name. */
interface Shelf extends Pick<Owner, 'trust'> {
  readonly streams: Map<string, Stream>;
}

export class Streams {
  readonly #sessions = new WeakMap<GatewaySession, Map<string, Shelf>>();

  /** A name is free again when its provider is gone: what that one left is not for somebody of another trust. */
  claim(session: GatewaySession, { name, trust }: Owner): void {
    const shelf = this.#sessions.get(session)?.get(name);
    if (shelf && shelf.trust !== trust) this.#sessions.get(session)?.delete(name);
  }

  /** Throws when the provider has too many streams already. */
  store(session: GatewaySession, owner: Owner, name: string, event: ProviderStreamEvent): void {
    const { streams } = this.#shelfOf(session, owner);
    const stream = streams.get(name) ?? { kept: [], characters: 0 };
    if (!streams.has(name)) {
      checkStreamName(name);
      if (streams.size >= STREAMS_PER_PROVIDER_MAX) throw tooMany('streams', STREAMS_PER_PROVIDER_MAX);
      streams.set(name, stream);
    }
    const characters = JSON.stringify(event).length;
    stream.kept.push({ event, characters });
    stream.characters += characters;
    evictOld(stream);
  }

  /** Newest first. */
  latest(session: GatewaySession, { provider, stream }: StreamName, last: number): ProviderStreamEvent[] {
    const kept = this.#keptOf(session, { provider, stream });
    const wanted = Math.min(last, STREAM_QUERY_LAST_MAX);
    return kept
      .slice(Math.max(0, kept.length - wanted))
      .reverse()
      .map(({ event }) => event);
  }

  /** How many it keeps, more than anybody may ask for; for those who look for leaks. */
  sizeOf(session: GatewaySession, name: StreamName): number {
    return this.#keptOf(session, name).length;
  }

  #keptOf(session: GatewaySession, { provider, stream }: StreamName): readonly Kept[] {
    return this.#sessions.get(session)?.get(provider)?.streams.get(stream)?.kept ?? [];
  }

  #shelfOf(session: GatewaySession, { name, trust }: Owner): Shelf {
    const shelves = this.#sessions.get(session) ?? new Map<string, Shelf>();
    this.#sessions.set(session, shelves);
    const shelf = shelves.get(name) ?? { trust, streams: new Map() };
    shelves.set(name, shelf);
    const [first] = shelves.keys();
    if (first !== undefined && shelves.size > PROVIDERS_WITH_STREAMS_MAX) shelves.delete(first);
    return shelf;
  }
}

/** Names are keys of maps and go back with every query. */
export function checkStreamName(name: string): void {
  const max = STREAM_NAME_MAX_CHARACTERS;
  if (name.length > max)
    throw new GatewayError(GatewayErrorCode.PayloadTooLarge, `the name of a stream has at most ${max} characters`);
}

/** `stream@provider`, or a bare name for an own stream. */
export function streamNamed(text: string, ownName: string): StreamName {
  const at = text.lastIndexOf('@');
  return at < 0 ? { stream: text, provider: ownName } : { stream: text.slice(0, at), provider: text.slice(at + 1) };
}

function evictOld(stream: Stream): void {
  const { kept } = stream;
  while (kept.length > EVENTS_PER_STREAM_MAX || (stream.characters > STREAM_MAX_CHARACTERS && kept.length > 1)) {
    stream.characters -= kept.shift()?.characters ?? 0;
  }
}
