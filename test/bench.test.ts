/** Benchmarks run, and do not flatter. What they measure is never judged here: that depends on the machine. */
import { execFile, fork } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterEach, describe, expect, it } from 'vitest';
import { type WebSocket, WebSocketServer } from 'ws';
import { type Figure, figure, skipped, summary, table } from '../bench/figures.mjs';
import { runNode } from '../scripts/process.mjs';

const BENCH = path.join(import.meta.dirname, '..', 'bench');
const execute = promisify(execFile);

describe('a figure', () => {
  const given = { name: 'a.figure', limit: 'the least', worse: 'load' };

  it('is the median of the rounds with its spread', () => {
    expect(figure({ ...given, samples: [5, 1, 2] })).toMatchObject({ median: 2, min: 1, max: 5, rounds: 3 });
    expect(figure({ ...given, samples: [4, 1, 2, 3] })).toMatchObject({ median: 2.5, min: 1, max: 4, rounds: 4 });
  });

  it('meets its target or misses it; without one it does neither', () => {
    expect(figure({ ...given, samples: [2], target: { atMost: 2 } }).met).toBe(true);
    expect(figure({ ...given, samples: [2.1], target: { atMost: 2 } }).met).toBe(false);
    expect(figure({ ...given, samples: [1.9], target: { atLeast: 2 } }).met).toBe(false);
    expect(figure({ ...given, samples: [1] }).met).toBeUndefined();
  });

  it('is shown with what it is held against, what was measured, and what was not', () => {
    const target = { atMost: 1 };
    const figures = [
      figure({ ...given, samples: [2], target, others: [4], changes: [0.5] }),
      figure({ ...given, name: 'another', samples: [0.5], target }),
      skipped({ name: 'absent', skipped: 'it is not installed' }),
    ];
    const text = table(figures);
    expect(text).toMatch(/a\.figure +the least +<= 1 +2 +2-2 +MISSED +load +4 \[4-4\] +0\.5 \[0\.5-0\.5\]/);
    expect(text).toContain('skipped: it is not installed');
    expect(summary(figures)).toBe('1 met, 1 missed (a.figure), 1 skipped');
  });
});

describe('a benchmark', () => {
  it('that does not end is ended, and says so', async () => {
    const ran = await runNode(['-e', 'setInterval(() => {}, 1000)'], { endAfterMs: 100 });
    expect(ran.isEnded).toBe(true);
    expect(await runNode(['-e', 'console.log(1)'], { endAfterMs: 60_000 })).toEqual({
      code: 0,
      output: '1\n',
      isEnded: false,
    });
  });

  it.each(['fanout', 'log', 'reducers'])('%s runs in its smallest size', { timeout: 240_000 }, async (name) => {
    const { stdout } = await execute(process.execPath, [path.join(BENCH, `${name}.bench.mjs`), '--tiny', '--json']);
    const { figures } = JSON.parse(stdout) as { figures: Figure[] };
    expect(figures.length).toBeGreaterThan(2);
    for (const { median, worse } of figures) {
      expect(median).toBeGreaterThan(0);
      expect(worse).toMatch(/^\S+$/);
    }
  });
});

describe('the receivers of a fan-out', () => {
  const open: { close(): void }[] = [];
  afterEach(() => {
    for (const one of open.splice(0)) one.close();
  });

  /** Sends these tokens to one receiver, and says how its process ended; 'alive' when it took all of them. */
  async function ending(tokens: string): Promise<unknown> {
    const server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
    open.push(server);
    await once(server, 'listening');
    const child = fork(path.join(BENCH, 'support', 'receivers.mjs'), { stdio: ['ignore', 'ignore', 'ignore', 'ipc'] });
    open.push({ close: () => child.kill() });
    let id = 0;
    const ask = (name: string, options: unknown) => {
      child.send({ id: id++, name, options });
      return once(child, 'message');
    };
    const accepted = once(server, 'connection') as Promise<[WebSocket]>;
    const { port } = server.address() as { port: number };
    await ask('join', { kind: 'bare', port, count: 1, sessions: ['session'] });
    await ask('expect', { last: 3 });
    const exited = once(child, 'exit').then(([code]) => code);
    const [socket] = await accepted;
    socket.send(tokens);
    return Promise.race([
      exited,
      ask('arrived', { sent: [], from: 1 }).then(
        () => 'alive',
        () => exited,
      ),
    ]);
  }

  it('take tokens that come once and in order, in one message or several', { timeout: 60_000 }, async () => {
    expect(await ending('@000001 @000002 @000003 ')).toBe('alive');
  });

  it.each(['@000001 @000003 ', '@000001 @000001 ', '@000001 @000002 @000003 @000004 '])(
    'end the benchmark when a token is lost, comes twice, or was never sent: %s',
    { timeout: 60_000 },
    async (tokens) => {
      expect(await ending(tokens)).toBe(1);
    },
  );
});
