/**
 * Which sessions name a blob. Needed for callers with limited access, for whom knowing the hash of a content is not
 * enough. A session is read at the first question; after that, only what was stored since.
 */
import { blobHash } from '@atrium/core/contracts/blobs.js';
import { oneAtATime } from '@atrium/core/util/scheduling.js';
import { defaultChatUri } from '@atrium/protocol/ahp-1';
import { NAMED, type SweepOptions, textsOn } from './sweep.js';

/** How many channels' hashes stay in memory; the channel that was read first is dropped first. */
const CHANNELS_MAX = 500;

interface Known {
  /** Everything up to this number has been read. */
  readonly upTo: number;
  readonly hashes: ReadonlySet<string>;
}

const NOTHING: Known = { upTo: -1, hashes: new Set() };

export class NamedInSessions {
  readonly #channels = new Map<string, Known>();

  constructor(
    private readonly log: SweepOptions['log'],
    private readonly chatsOf: (session: string) => readonly string[],
  ) {}

  /** Whether one of these sessions names a content, in any of its chats. */
  async isNamed(uri: string, sessions: Iterable<string>): Promise<boolean> {
    const hash = blobHash(uri);
    if (hash === undefined) return false;
    for (const session of sessions) if (await this.#isNamedIn(session, hash)) return true;
    return false;
  }

  async #isNamedIn(session: string, hash: string): Promise<boolean> {
    // Other channels that it names do not count: the transcript of another session may be attached to a message.
    for (const channel of new Set([session, defaultChatUri(session), ...this.chatsOf(session)]))
      if ((await this.#hashesIn(channel)).has(hash)) return true;
    return false;
  }

  #hashesIn(channel: string): Promise<ReadonlySet<string>> {
    return oneAtATime(`named in ${channel}`, async () => {
      const before = this.#channels.get(channel) ?? NOTHING;
      const hashes = new Set(before.hashes);
      const texts = textsOn(this.log, channel, before.upTo);
      let next = await texts.next();
      for (; !next.done; next = await texts.next())
        for (const [, hash = ''] of next.value.matchAll(NAMED)) hashes.add(hash);
      this.#keep(channel, { upTo: next.value, hashes });
      return hashes;
    });
  }

  #keep(channel: string, known: Known): void {
    const [first] = this.#channels.keys();
    if (first !== undefined && this.#channels.size >= CHANNELS_MAX && !this.#channels.has(channel))
      this.#channels.delete(first);
    this.#channels.set(channel, known);
  }
}
