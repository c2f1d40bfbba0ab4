/** What the parts of the contract suite share: the runner's functions, and short ways to write to a log. */
import type { Commit, Log, LogEntry, Stored } from './log.js';

interface Assertion {
  toBe(expected: unknown): void;
  toEqual(expected: unknown): void;
  toMatchObject(expected: object): void;
  readonly rejects: { toMatchObject(expected: object): Promise<void> };
}

/** The part of vitest, or of a runner like it, that the suite needs. */
export interface ContractApi {
  describe(name: string, body: () => void): void;
  it(name: string, body: () => Promise<void>): void;
  expect(actual: unknown): Assertion;
}

export interface LogUnderTest {
  /** Fresh and empty. */
  readonly log: Log;
  /** Closes the log and opens it again; absent for a log that keeps nothing. */
  readonly reopen?: () => Promise<Log>;
}

export type OpenLog = () => Promise<LogUnderTest>;

export const CHANNEL = 'ahp-session:/one';
export const OTHER = 'ahp-session:/two';

export function entry(seq: number, more: Partial<LogEntry> = {}): LogEntry {
  return { seq, channel: CHANNEL, time: 1_000 + seq, action: `{"n":${seq}}`, ...more };
}

export function sentBy(clientId: string, clientSeq: number, epoch = 1): Pick<LogEntry, 'origin'> {
  return { origin: { clientId, epoch, clientSeq } };
}

export function turn(index: number): { id: string; json: string } {
  return { id: `t${index}`, json: `{"id":"t${index}","text":"Grüße ${index}"}` };
}

export function turns(start: number, end: number): { id: string; json: string }[] {
  return Array.from({ length: end - start }, (_, offset) => turn(start + offset));
}

/** Appends a commit; members left out are empty. */
export function append(log: Log, commit: Partial<Commit>): Promise<Stored> {
  return log.append({ entries: [], durability: 'normal', ...commit });
}

export async function appendMany(
  log: Log,
  count: number,
  more: (seq: number) => Partial<LogEntry> = () => ({}),
): Promise<Stored> {
  const first = log.head + 1;
  return append(log, {
    entries: Array.from({ length: count }, (_, index) => entry(first + index, more(first + index))),
  });
}

export async function seqsAfter(log: Log, after: number): Promise<number[]> {
  const entries = await log.read({ after });
  return entries.map(({ seq }) => seq);
}

/** Runs the body on a fresh log and closes it, whatever happens. */
export function onFreshLog(open: OpenLog, body: (log: Log) => Promise<void>): () => Promise<void> {
  return async () => {
    const { log } = await open();
    try {
      await body(log);
    } finally {
      await log.close();
    }
  };
}
