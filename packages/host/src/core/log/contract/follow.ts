/** The contract of following: stored entries, then new ones, with no gap and no double in between. */
import type { Log } from '../log.js';
import { appendMany, type ContractApi, type OpenLog, onFreshLog } from './support.js';

/** More than any implementation reads in one go. */
const MANY = 1_200;

export function followContract({ describe, it, expect }: ContractApi, open: OpenLog): void {
  describe('following', () => {
    it(
      'delivers stored entries behind a number and then new ones, each once',
      onFreshLog(open, async (log) => {
        await appendMany(log, MANY);
        const seen: number[] = [];
        const stop = log.follow(10, ({ seq }) => seen.push(seq));
        // Some are appended while the follower still reads, some after it has caught up.
        for (let round = 0; round < 20; round++) {
          await appendMany(log, 5);
          await nextTurn();
        }
        await until(() => seen.at(-1) === log.head);
        await appendMany(log, 3);
        await until(() => seen.at(-1) === log.head);
        stop();
        expect(seen).toEqual(numbers(11, log.head));
      }),
    );

    it(
      'is silent once stopped',
      onFreshLog(open, async (log) => {
        const seen: number[] = [];
        const stop = log.follow(0, ({ seq }) => {
          seen.push(seq);
          if (seq === 2) stop();
        });
        await appendMany(log, 5);
        await nextTurns(5);
        expect(seen).toEqual([1, 2]);
      }),
    );

    it(
      'shows everybody one order, even when a listener appends',
      onFreshLog(open, async (log) => {
        const seen: [number[], number[]] = [[], []];
        log.follow(0, ({ seq }) => {
          seen[0].push(seq);
          if (seq === 1) void appendMany(log, 2);
        });
        log.follow(0, ({ seq }) => seen[1].push(seq));
        await nextTurns(2);
        await appendMany(log, 2);
        await until(() => seen.every((list) => list.length === 4));
        expect(seen).toEqual([numbers(1, 4), numbers(1, 4)]);
      }),
    );

    it(
      'is not disturbed by a listener that fails',
      onFreshLog(open, async (log) => {
        const seen: number[] = [];
        log.follow(0, () => {
          throw new Error('a broken listener');
        });
        log.follow(0, ({ seq }) => seen.push(seq));
        await appendMany(log, 2);
        await until(() => seen.length === 2);
        await appendMany(log, 1);
        await until(() => seen.length === 3);
        expect(seen).toEqual([1, 2, 3]);
      }),
    );
  });

  async function nextTurns(count: number): Promise<void> {
    for (let turn = 0; turn < count; turn++) await nextTurn();
  }

  async function until(condition: () => boolean): Promise<void> {
    for (let turn = 0; turn < 10_000 && !condition(); turn++) await nextTurn();
    expect(condition()).toBe(true);
  }
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

function numbers(first: Log['head'], last: number): number[] {
  return Array.from({ length: last - first + 1 }, (_, index) => first + index);
}
