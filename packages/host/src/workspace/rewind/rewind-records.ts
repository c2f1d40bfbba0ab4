/**
 * What the log keeps of the last rewind of each session: enough to finish it after a crash, and to undo it. It is
 * stored in the commit that cuts the conversation, so that a host that dies either has not begun or knows what is left
 * to do.
 */
import type { Writer } from '@atrium/core/channels/writer.js';
import { jsonText, type Log } from '@atrium/core/log/log.js';
import { isRecord } from '@atrium/core/util/shape.js';
import type { Message, PlanList, RewindKind } from '@atrium/protocol/ahp-1';

export interface RewindRecord {
  readonly id: string;
  readonly session: string;
  readonly chat: string;
  readonly what: RewindKind;
  /** `files`: files are being put back. `undoing`: the rewind is being undone. */
  readonly phase: 'files' | 'done' | 'undoing';
  /** The turns that were undone, oldest first. */
  readonly turnIds: readonly string[];
  /** How many turns remain in the chat. */
  readonly left: number;
  /** The chat with the turns that were cut off; absent if the conversation was not cut. */
  readonly fork?: string;
  /** The text that people see about the rewind. */
  readonly message: string;
  /** The message that people went back to, if it became the draft. */
  readonly draft?: Message;
  /** The task lists before the rewind. */
  readonly plans?: readonly PlanList[];
}

const PREFIX = 'rewind:';
/**
 * Under this prefix is the fork of a rewind that has not begun, which a crash would leave behind as an unwanted chat.
 */
const FORK_PREFIX = 'rewind-fork:';

export class RewindRecords {
  readonly #all = new Map<string, RewindRecord>();

  constructor(
    private readonly log: Pick<Log, 'records'>,
    private readonly writer: Pick<Writer, 'record' | 'afterFailure'>,
  ) {}

  async load(): Promise<void> {
    for (const { value } of await this.log.records(PREFIX)) {
      const record = parsed(value);
      if (record) this.#all.set(record.session, record);
    }
  }

  /** The forks whose rewind never began. */
  async looseForks(): Promise<readonly { readonly session: string; readonly fork: string }[]> {
    const found = await this.log.records(FORK_PREFIX);
    return found.map(({ key, value }) => ({
      session: decodeURIComponent(key.slice(FORK_PREFIX.length)),
      // An earlier host wrote the bare name.
      fork: value.startsWith('"') ? JSON.parse(value) : value,
    }));
  }

  /** Records that a fork is about to be made; undefined: it now belongs to a rewind, or is gone. */
  setLooseFork(session: string, fork: string | undefined): void {
    this.writer.record({
      key: `${FORK_PREFIX}${encodeURIComponent(session)}`,
      value: fork === undefined ? null : jsonText(fork),
    });
  }

  of(session: string): RewindRecord | undefined {
    return this.#all.get(session);
  }

  get unfinished(): readonly RewindRecord[] {
    return [...this.#all.values()].filter(({ phase }) => phase !== 'done');
  }

  /** Stores the record with this tick; files that change afterwards must never be on the disk without it. */
  set(record: RewindRecord): void {
    this.#put(record.session, record);
    this.writer.record({ key: keyOf(record.session), value: jsonText(record) }, 'full');
  }

  forget(session: string): void {
    if (!this.#all.has(session)) return;
    this.#put(session, undefined);
    this.writer.record({ key: keyOf(session), value: null });
  }

  #put(session: string, record: RewindRecord | undefined): void {
    const before = this.#all.get(session);
    const set = (value: RewindRecord | undefined) =>
      value ? this.#all.set(session, value) : this.#all.delete(session);
    set(record);
    this.writer.afterFailure(() => set(before));
  }
}

function keyOf(session: string): string {
  return `${PREFIX}${encodeURIComponent(session)}`;
}

/** Undefined for a record in the format of a later version. */
function parsed(json: string): RewindRecord | undefined {
  const value: unknown = JSON.parse(json);
  const isOne = isRecord(value) && typeof value.session === 'string' && Array.isArray(value.turnIds);
  return isOne ? (value as unknown as RewindRecord) : undefined;
}
