/**
 * The ports of the hosts of this worker, to use again: a page that comes to an origin anew has its files and their compiled
 * code there, which saves almost half the processor time of a load. All are outside the range from which the system gives
 * ports out, so that nobody else takes one between two hosts, or between two lives of one.
 */
import { onTestFinished } from 'vitest';

const FIRST = 20_000;
const COUNT = 10_000;

/** In the order in which they were first used: the first host of a test is mostly where that of the test before was. */
const known: number[] = [];
const taken = new Set<number>();

/** A port for this test. Whoever listens there ends before the test does. */
export function lastingPort(): number {
  const port = known.find((one) => !taken.has(one)) ?? addPort();
  taken.add(port);
  onTestFinished(() => {
    taken.delete(port);
  });
  return port;
}

/** Listens on such a port, and on the next one where somebody else of this machine listens already. */
export async function onLastingPort<T>(listen: (port: number) => Promise<T>): Promise<T> {
  for (;;) {
    const port = lastingPort();
    try {
      return await listen(port);
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'EADDRINUSE')) throw error;
      known.splice(known.indexOf(port), 1);
    }
  }
}

function addPort(): number {
  const port = FIRST + Math.floor(Math.random() * COUNT);
  known.push(port);
  return port;
}
