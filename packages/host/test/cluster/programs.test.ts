import { existsSync, readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { type Program, type ProgramRequest, startProgram } from '@atrium/core/util/programs.js';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { WINDOW_BYTES } from '../../src/cluster/program-frames.js';
import { tempFolder } from '../support/temp-folder.js';
import { workingHosts } from '../support/working-pair.js';

const WAIT = { timeout: 15_000 };

/** A program in a language that is here. */
function script(code: string, cwd?: string): ProgramRequest {
  return { command: process.execPath, args: ['-e', code], cwd, env: {} };
}

const IDLE = 'setInterval(() => {}, 1000)';

/** One that has ended may stay in the table for a while, without a command line. */
function isRunning(pid: number): boolean {
  const file = `/proc/${pid}/cmdline`;
  if (process.platform === 'linux') return existsSync(file) && readFileSync(file, 'utf8') !== '';
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

async function firstLine({ stdout }: Program): Promise<string> {
  let said = '';
  for await (const chunk of stdout.iterator({ destroyOnReturn: false })) {
    said += String(chunk);
    if (said.includes('\n')) break;
  }
  return said.split('\n')[0] ?? '';
}

function ended(program: Program): void {
  onTestFinished(() => program.end(0));
}

describe('[CLU-044] a program that another host runs', () => {
  it('gets its input, its folder and its variables, and gives back its output, errors and code', async () => {
    const { programs, counts } = await workingHosts(['b']);
    const cwd = await tempFolder();
    const code = `console.error(process.cwd(), process.env.FRUIT, process.env.HOME);
      process.stdin.pipe(process.stdout); process.stdin.on('end', () => setTimeout(() => process.exit(7), 50))`;
    const env = { FRUIT: 'plum', HOME: undefined };
    const program = await programs.startFor('s')({ ...script(code, cwd), env });
    expect(counts()).toEqual([1]);
    const [said, errors] = [text(program.stdout), text(program.stderr)];
    program.stdin.end('hello ünïcode');
    expect(await said).toBe('hello ünïcode');
    expect(await errors).toBe(`${cwd} plum undefined\n`);
    expect(await program.exited).toEqual({ code: 7, signal: null });
    await program.end(0);
    await expect.poll(counts, WAIT).toEqual([0]);
  });

  it('is asked to end with all that it started, and then killed', async () => {
    const { programs } = await workingHosts(['b']);
    const code = `const { spawn } = require('node:child_process');
      process.on('SIGTERM', () => {});
      const child = spawn(process.execPath, ['-e', "process.on('SIGTERM', () => {}); ${IDLE}"]);
      console.log(process.pid, child.pid); ${IDLE}`;
    const program = await programs.startFor('s')(script(code));
    const pids = (await firstLine(program)).split(' ').map(Number);
    expect(pids.map(isRunning)).toEqual([true, true]);
    await program.end(100);
    expect(await program.exited).toMatchObject({ signal: 'SIGKILL' });
    await expect.poll(() => pids.map(isRunning), WAIT).toEqual([false, false]);
  });

  it('waits while nobody reads its output, and loses none of it', async () => {
    const { programs } = await workingHosts(['b']);
    const size = 8 * 2 ** 20;
    const code = `const { writeSync } = require('node:fs');
      let sent = 0; const piece = Buffer.alloc(65536, 'x');
      const go = () => { while (sent < ${size}) { sent += piece.length; if (!process.stdout.write(piece)) return process.stdout.once('drain', go); } };
      process.stdin.on('data', () => writeSync(2, sent + '\\n'));
      go();`;
    const program = await programs.startFor('s')(script(code));
    ended(program);
    await delay(500);
    program.stdin.write('how much?');
    const [answer] = (await program.stderr.iterator({ destroyOnReturn: false }).next()).value.toString().split('\n');
    // What is under way, in the pipe, and in the buffers of both ends.
    expect(Number(answer)).toBeLessThan(8 * WINDOW_BYTES);
    let bytes = 0;
    for await (const chunk of program.stdout) {
      bytes += chunk.length;
      if (bytes === size) break;
    }
    expect(bytes).toBe(size);
  });

  it('gets no more input than it reads, and is still asked to end', async () => {
    const { programs } = await workingHosts(['b']);
    const program = await programs.startFor('s')(script(`console.log('here'); ${IDLE}`));
    await firstLine(program);
    let taken = 0;
    const piece = Buffer.alloc(2 ** 16);
    for (let count = 0; count < 64; count++) program.stdin.write(piece, () => (taken += piece.length));
    await delay(300);
    expect(taken).toBeLessThan(2 * WINDOW_BYTES);
    await program.end(0);
    expect(await program.exited).toMatchObject({ code: null });
  });

  it('reaches a port that it was lent, as long as it runs', async () => {
    const { programs } = await workingHosts(['b']);
    const server = createServer((socket) => socket.pipe(socket));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void server.close());
    const { port } = server.address() as { port: number };
    const code = `process.stdin.once('data', (port) => {
      const socket = require('node:net').connect(Number(port), '127.0.0.1');
      socket.end('x'.repeat(1e6)); let bytes = 0;
      socket.on('data', (chunk) => (bytes += chunk.length)).on('end', () => console.log(bytes));
    }); ${IDLE}`;
    const program = await programs.startFor('s')(script(code));
    const there = await program.reach(port);
    expect(there).not.toBe(port);
    program.stdin.write(String(there));
    expect(await firstLine(program)).toBe('1000000');
    await program.end(0);
    const late = createServer();
    await vi.waitFor(
      () => new Promise<void>((resolve, reject) => late.once('error', reject).listen(there, '127.0.0.1', resolve)),
      WAIT,
    );
    late.close();
  });
});

describe('[CLU-045] the place of a session', () => {
  it('is the host with the fewest sessions at work, and the same for all its programs', async () => {
    const { programs, counts } = await workingHosts(['b', 'c']);
    const start = async (session: string) => {
      const program = await programs.startFor(session)(script(IDLE));
      ended(program);
      return program;
    };
    const [first] = await Promise.all(['s1', 's2', 's3', 's4'].map(start));
    expect(counts()).toEqual([2, 2]);
    await start('s1');
    expect(counts()).toEqual([3, 2]);
    await start('s5');
    await start('s6');
    expect(counts()).toEqual([4, 3]);
    await first?.end(0);
  });

  it('is that of its last program, also for the next active host, while that is not far busier than another', async () => {
    const { programs, counts, others } = await workingHosts(['b', 'c']);
    const known = new Map<string, string>();
    const hosts = {
      of: async (session: string) => known.get(session),
      set: (session: string, host: string) => void known.set(session, host),
    };
    programs.rememberIn(hosts);
    const start = async (session: string) => {
      const program = await programs.startFor(session)(script(IDLE));
      ended(program);
      return program;
    };
    const first = await start('s1');
    expect(counts()).toEqual([1, 0]);
    await first.end(0);
    await expect.poll(counts, WAIT).toEqual([0, 0]);
    await start('s2');
    await start('s1');
    // Though the other one is idle.
    expect([counts(), [...known]]).toEqual([
      [2, 0],
      [
        ['s1', 'b'],
        ['s2', 'b'],
      ],
    ]);
    await start('s3');
    for (const session of ['s4', 's5']) known.set(session, 'b');
    await start('s4');
    await start('s5');
    expect(counts()).toEqual([4, 1]);
    known.set('s6', 'b');
    await start('s6');
    expect(counts()).toEqual([5, 1]);
    known.set('s7', 'b');
    await start('s7');
    expect([counts(), known.get('s7')]).toEqual([[5, 2], 'c']);
    expect(others.length).toBe(2);
  });

  it('is also the active host, if that works, too, and otherwise only when no other can', async () => {
    const here: string[] = [];
    const start = (request: ProgramRequest) => {
      here.push(request.command);
      return startProgram(request);
    };
    const one = await workingHosts(['b'], { worksHere: true, start });
    for (const session of ['s1', 's2', 's3', 's4']) ended(await one.programs.startFor(session)(script(IDLE)));
    expect([one.counts(), here.length]).toEqual([[2], 2]);
    const other = await workingHosts(['b'], { start });
    for (const session of ['s1', 's2']) ended(await other.programs.startFor(session)(script(IDLE)));
    expect([other.counts(), here.length]).toEqual([[2], 2]);
    other.see([]);
    ended(await other.programs.startFor('s3')(script(IDLE)));
    expect(here.length).toBe(3);
  });

  it('is not a host that lacks the command, the folder or the release, or does not answer; and no command is left out for ever', async () => {
    const startThere = () => startProgram({ command: '/no/such/command', args: [], env: {} });
    const lacks = await workingHosts(['b'], { startThere });
    ended(await lacks.programs.startFor('s')(script(IDLE)));
    expect(lacks.lines.at(-1)).toContain('ENOENT');
    await expect.poll(lacks.counts, WAIT).toEqual([0]);
    const elsewhere = { placeOf: async () => undefined, missing: async () => 'the folder is on another machine' };
    const place = { folder: '/', host: 'a', machine: 'm' };
    const places = { placeOf: async () => place, missing: async () => undefined };
    const blind = await workingHosts(['b'], { places, theirPlaces: elsewhere });
    ended(await blind.programs.startFor('s')(script(IDLE, await tempFolder())));
    expect(blind.lines.at(-1)).toContain('on another machine');
    await expect.poll(blind.counts, WAIT).toEqual([0]);
    const gone = await workingHosts(['b']);
    await gone.others[0]?.links.close();
    ended(await gone.programs.startFor('s')(script(IDLE)));
    expect(gone.lines.at(-1)).toContain('cannot be reached');
    await expect(gone.programs.startFor('s2')({ ...script(''), command: '/no/such/command' })).rejects.toMatchObject({
      code: 'ENOENT',
    });
  });
});

describe('[CLU-046] [CLU-047] a program of another host', () => {
  it('is lost with its host, and says so; the session goes on elsewhere', async () => {
    const { programs, others, see, counts } = await workingHosts(['b', 'c']);
    const program = await programs.startFor('s')(script(IDLE));
    expect(counts()).toEqual([1, 0]);
    const [, c] = others;
    see(c ? [c.worker] : []);
    expect(await program.exited).toEqual({ code: null, signal: null, lost: 'host b, on which it ran, is gone' });
    await expect.poll(counts, WAIT).toEqual([0, 0]);
    ended(await programs.startFor('s')(script(IDLE)));
    expect(counts()).toEqual([0, 1]);
  });

  it('is lost with an earlier term of its host', async () => {
    const { programs, others, see } = await workingHosts(['b']);
    const program = await programs.startFor('s')(script(IDLE));
    see(others.map(({ worker }) => ({ ...worker, term: 2 })));
    expect(await program.exited).toMatchObject({ lost: expect.any(String) });
  });

  it('ends when the connection to the host that asked for it ends', async () => {
    const { programs, others, counts } = await workingHosts(['b']);
    const program = await programs.startFor('s')(script(`console.log(process.pid); ${IDLE}`));
    const pid = Number(await firstLine(program));
    await others[0]?.links.close();
    expect(await program.exited).toMatchObject({ lost: expect.any(String) });
    await expect.poll(() => isRunning(pid), WAIT).toBe(false);
    await expect.poll(counts, WAIT).toEqual([0]);
  });

  it('is run for the active host only, and ends before the next one has any', async () => {
    const { programs, others, counts, activate } = await workingHosts(['b']);
    const stubborn = `process.on('SIGTERM', () => {}); console.log(process.pid); ${IDLE}`;
    const program = await programs.startFor('s')(script(stubborn));
    const pid = Number(await firstLine(program));
    const next = { host: 'c', term: 4 };
    activate(next);
    // The one before does not know it yet. It is refused, and does the work itself.
    const second = await programs.startFor('s2')(script(IDLE));
    expect(counts()).toEqual([1]);
    const heir = await workingHosts([], { me: next });
    heir.see(others.map(({ worker }) => worker));
    const third = await heir.programs.startFor('s')(script(`console.log('here'); ${IDLE}`));
    expect([await firstLine(third), isRunning(pid)]).toEqual(['here', false]);
    expect(await program.exited).toMatchObject({ lost: expect.any(String) });
    expect(counts()).toEqual([1]);
    await Promise.all([second, third].map((one) => one.end(0)));
  });

  it('is not begun on a host that leaves; what runs there ends when its session is idle', async () => {
    const { programs, others, see, counts } = await workingHosts(['b', 'c']);
    const rested: string[] = [];
    programs.whenLeaving((session) => rested.push(session));
    const program = await programs.startFor('s')(script(IDLE));
    others[0]?.work.leave();
    see(others.map(({ worker }) => ({ ...worker, isLeaving: worker.host === 'b' })));
    expect([rested, counts()]).toEqual([['s'], [1, 0]]);
    ended(await programs.startFor('s2')(script(IDLE)));
    expect(counts()).toEqual([1, 1]);
    // Also when the active host has not seen yet that it leaves.
    see(others.map(({ worker }) => worker));
    const [b] = others;
    see(b ? [b.worker] : []);
    ended(await programs.startFor('s3')(script(IDLE)));
    await expect.poll(counts, WAIT).toEqual([1, 0]);
    await program.end(0);
  });
});

it('[CLU-045] the folder of a program is looked for where it runs', async () => {
  const { programs, lines } = await workingHosts(['b']);
  const cwd = path.join(await tempFolder(), 'none');
  await expect(programs.startFor('s')(script(IDLE, cwd))).rejects.toMatchObject({ code: 'ENOENT' });
  expect(lines.at(-1)).toContain(`there is no folder ${cwd} here`);
});
