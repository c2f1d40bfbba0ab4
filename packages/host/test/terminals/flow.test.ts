import { STORE_RETRY_MS } from '@atrium/core/channels/limits.js';
import { describe, expect, it } from 'vitest';
import {
  Flow,
  GATHER_MAX_CHARACTERS,
  UNSENT_HIGH_BYTES,
  UNSENT_WAIT_MAX_MS,
  UNSTORED_HIGH_CHARACTERS,
} from '../../src/workspace/terminals/output-flow.js';
import { failingLog } from '../support/failing-log.js';
import { FakeClock } from '../support/fake-clock.js';
import { openTerminal, openTerminalFixture, textIn, type, until, untilText } from '../support/terminal-fixture.js';
import { settle } from '../support/test-host.js';

/** A flow whose store, watchers and program are in the hands of the test. */
function openFlow() {
  const clock = new FakeClock();
  const written: string[] = [];
  const calls = { pauses: 0, resumes: 0 };
  let stored: (() => void)[] = [];
  let failed: (() => void)[] = [];
  let unsent = 0;
  const flow = new Flow({
    clock,
    writer: { afterCommit: (then) => stored.push(then), afterFailure: (then) => failed.push(() => then(new Error())) },
    write: (actions) =>
      void written.push(actions.map((each) => (each.type === 'terminal/data' ? each.data : `<${each.type}>`)).join('')),
    unsent: () => unsent,
    pause: () => calls.pauses++,
    resume: () => calls.resumes++,
  });
  const take = (callbacks: readonly (() => void)[]): void => {
    [stored, failed] = [[], []];
    for (const callback of callbacks) callback();
  };
  return {
    ...{ flow, clock, written, calls },
    store: () => take(stored),
    fail: () => take(failed),
    setUnsent: (bytes: number) => {
      unsent = bytes;
    },
  };
}

const soon = () => new Promise((resolve) => setTimeout(resolve, 30));

describe('the flow of output', () => {
  it('gathers what comes together, and what comes while it is stored, in order', async () => {
    const { flow, written, store } = openFlow();
    flow.output('a');
    flow.output('b');
    flow.act({ type: 'terminal/commandDetectionAvailable' });
    flow.output('c');
    await soon();
    flow.output('d');
    await soon();
    expect(written).toEqual(['ab<terminal/commandDetectionAvailable>c']);
    store();
    await soon();
    expect(written[1]).toBe('d');
  });

  it('does not wait when there is much', async () => {
    const { flow, written, store } = openFlow();
    flow.output('first');
    await soon();
    store();
    flow.output('second');
    await settle(2);
    flow.output('x'.repeat(GATHER_MAX_CHARACTERS));
    await settle(2);
    expect(written).toHaveLength(2);
  });

  it('makes the program wait while too much is not stored', async () => {
    const { flow, calls, store } = openFlow();
    flow.output('a');
    await soon();
    flow.output('x'.repeat(UNSTORED_HIGH_CHARACTERS + 1));
    expect(calls).toEqual({ pauses: 1, resumes: 0 });
    store();
    await soon();
    store();
    expect(calls).toEqual({ pauses: 1, resumes: 1 });
  });

  it('makes it wait while even the fastest watcher is behind, but not for ever', async () => {
    const { flow, clock, calls, store, setUnsent } = openFlow();
    const write = async () => {
      flow.output('a');
      await soon();
      store();
    };
    setUnsent(UNSENT_HIGH_BYTES + 1);
    await write();
    expect(calls).toEqual({ pauses: 1, resumes: 0 });
    setUnsent(0);
    await clock.advance(UNSENT_WAIT_MAX_MS / 2);
    expect(calls).toEqual({ pauses: 1, resumes: 1 });
    setUnsent(UNSENT_HIGH_BYTES + 1);
    await write();
    await clock.advance(2 * UNSENT_WAIT_MAX_MS);
    expect(calls).toEqual({ pauses: 2, resumes: 2 });
    await write();
    expect(calls).toEqual({ pauses: 2, resumes: 2 });
  });

  it('writes again what could not be stored, before what came since', async () => {
    const { flow, clock, written, fail, store } = openFlow();
    flow.output('a');
    await soon();
    flow.output('b');
    fail();
    await clock.advance(STORE_RETRY_MS);
    expect(written).toEqual(['a', 'ab']);
    store();
    await flow.drained();
  });

  it('lets a program that waits go on when the terminal is gone, and takes nothing more of it', async () => {
    const { flow, calls, written } = openFlow();
    flow.output('x'.repeat(UNSTORED_HIGH_CHARACTERS + 1));
    flow.stop();
    expect(calls).toEqual({ pauses: 1, resumes: 1 });
    flow.output('x'.repeat(UNSTORED_HIGH_CHARACTERS + 1));
    await soon();
    expect(calls).toEqual({ pauses: 1, resumes: 1 });
    expect(written).toEqual([]);
  });

  it('[AHP-233] brings all output before the end of the shell', async () => {
    const { client } = await openTerminalFixture();
    for (let round = 0; round < 10; round++) {
      const uri = await openTerminal(client);
      type(client, uri, 'seq -f "line %g of a quick command" 1 900; echo LA""ST; exit\r');
      const { content } = await until(client, uri, ({ exitCode }) => exitCode !== undefined);
      expect(textIn(content).slice(-40)).toContain('LAST\r\n');
    }
  });

  it('loses nothing in a host whose disk fails for a while', async () => {
    const log = failingLog();
    const { client } = await openTerminalFixture({ log });
    const uri = await openTerminal(client);
    type(client, uri, '(sleep 0.4; echo late) & echo fi""rst\r');
    await untilText(client, uri, 'first');
    log.failNext();
    const state = await until(client, uri, ({ content }) => /late\r\n/.test(textIn(content)));
    expect(log.failures).toBe(1);
    expect(textIn(state.content).match(/late\r\n/g)).toHaveLength(1);
  });
});
