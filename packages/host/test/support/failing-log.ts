/** A log that can be told to fail, or to take its time. Everything else goes to the log inside. */

import { recordText } from '@atrium/core/log/check-commit.js';
import type { ClientFacts, Commit, Log, Stored } from '@atrium/core/log/log.js';
import { MemoryLog } from '@atrium/core/log/memory-log.js';

export interface FailingLog extends Log {
  /** So many of the next commits fail, behind some that do not; the rest is stored. */
  failNext(commits?: number, after?: number): void;
  /** From now on, commits fail that have a record with this text, as if the host had been killed before them. */
  failRecords(text: string): void;
  /** The commit behind the next one with such a record fails. */
  failBehindRecords(text: string): void;
  /** Holds commits back until the returned function is called. */
  hold(): () => void;
  /** How many commits failed so far. */
  readonly failures: number;
}

export function failingLog(inner: Log = new MemoryLog()): FailingLog {
  let toFail = 0;
  let toPass = 0;
  let failures = 0;
  let failing: string | undefined;
  let failingBehind: string | undefined;
  const hasRecord = ({ records = [] }: Commit, text: string | undefined) =>
    text !== undefined && records.some(({ value }) => value !== null && recordText(value, 0).includes(text));
  let gate: Promise<void> = Promise.resolve();
  const stored = <T>(store: () => Promise<T>): Promise<T> => {
    if (toFail === 0 || toPass-- > 0) return store();
    toFail--;
    failures++;
    throw new Error('the disk is full');
  };
  const own = {
    async append(commit: Commit): Promise<Stored> {
      await gate;
      if (hasRecord(commit, failing)) throw new Error('the disk is full');
      if (hasRecord(commit, failingBehind)) {
        failingBehind = undefined;
        toFail = 1;
        return inner.append(commit);
      }
      return stored(() => inner.append(commit));
    },
    async beginClient(clientId: string, facts: ClientFacts): Promise<{ epoch: number }> {
      await gate;
      return stored(() => inner.beginClient(clientId, facts));
    },
    failNext(commits = 1, after = 0): void {
      toFail = commits;
      toPass = after;
    },
    failRecords(text: string): void {
      failing = text;
    },
    failBehindRecords(text: string): void {
      failingBehind = text;
    },
    hold(): () => void {
      let release = () => {};
      gate = new Promise((resolve) => {
        release = resolve;
      });
      return release;
    },
  };
  return new Proxy(inner, {
    get(target, member) {
      if (member === 'failures') return failures;
      if (Object.hasOwn(own, member)) return own[member as keyof typeof own];
      const value: unknown = Reflect.get(target, member, target);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  }) as FailingLog;
}
