/** The latest events of every stream, in memory only. A stream belongs to one provider name in one session. */
import {
  EVENTS_PER_STREAM_MAX,
  type ProviderStreamEvent,
  STREAM_QUERY_LAST_MAX,
  STREAMS_PER_PROVIDER_MAX,
} from '@atrium/protocol/provider';
import { tooMany } from '../gateway-error.js';
import type { Room } from '../room.js';

type StreamsOfProvider = Map<string, ProviderStreamEvent[]>;

export class Streams {
  readonly #rooms = new WeakMap<Room, Map<string, StreamsOfProvider>>();

  /** Throws when the provider has too many streams already. */
  store(room: Room, name: { provider: string; stream: string }, event: ProviderStreamEvent): void {
    const streams = this.#of(room, name.provider);
    const events = streams.get(name.stream);
    if (!events) {
      if (streams.size >= STREAMS_PER_PROVIDER_MAX) throw tooMany('streams', STREAMS_PER_PROVIDER_MAX);
      streams.set(name.stream, [event]);
      return;
    }
    events.push(event);
    if (events.length > EVENTS_PER_STREAM_MAX) events.shift();
  }

  /** Newest first. */
  latest(room: Room, name: { provider: string; stream: string }, last: number): ProviderStreamEvent[] {
    const events = this.#rooms.get(room)?.get(name.provider)?.get(name.stream) ?? [];
    return events.slice(-Math.min(last, STREAM_QUERY_LAST_MAX)).reverse();
  }

  #of(room: Room, provider: string): StreamsOfProvider {
    const providers = this.#rooms.get(room) ?? new Map<string, StreamsOfProvider>();
    this.#rooms.set(room, providers);
    const streams = providers.get(provider) ?? new Map();
    providers.set(provider, streams);
    return streams;
  }
}
