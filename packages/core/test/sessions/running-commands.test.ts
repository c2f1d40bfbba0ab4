import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, expect, it } from 'vitest';
import { MemoryLog } from '../../src/log/memory-log.js';
import { CALL_VARIABLE, InterruptedCommands, StoredCommand } from '../../src/sessions/running-commands.js';
import { systemClock } from '../../src/util/clock.js';

const COMMAND = { owner: 'ahp-session:/s', toolCallId: 'k' };

async function storedIn(log: MemoryLog) {
  const records: { key: string; value: string | null }[] = [];
  const writer = {
    record: (record: { key: string; value: unknown }) => void records.push(record as (typeof records)[number]),
    afterFailure: () => {},
  };
  const command = new StoredCommand(writer as never, COMMAND);
  const environment = command.environment();
  const store = () => log.append({ entries: [], records: records.splice(0), durability: 'full' });
  await store();
  return { command, environment, store };
}

describe('the output of a command', () => {
  function stored() {
    const records: unknown[] = [];
    const failures: (() => void)[] = [];
    const writer = {
      record: (record: unknown) => void records.push(record),
      afterFailure: (handler: () => void) => void failures.push(handler),
    };
    const command = new StoredCommand(writer as never, COMMAND);
    const taken = () => records.splice(0) as { key: string; value: string | null }[];
    return { command, taken, fail: () => failures.splice(0).map((handler) => handler()), failures };
  }

  it('[REL-062] is stored once, and again when that could not be stored', () => {
    const { command, taken, fail, failures } = stored();
    command.output('one');
    command.store();
    expect(taken().map(({ value }) => value)).toContain('"one"');
    failures.length = 0;
    command.store();
    expect([taken(), failures]).toEqual([[], []]);
    command.output(' two');
    command.store();
    expect(taken().map(({ value }) => value)).toEqual(['"one two"']);
    fail();
    command.store();
    expect(taken().map(({ value }) => value)).toContain('"one two"');
  });

  it('[REL-062] is forgotten with its result, and what comes later is not stored', () => {
    const { command, taken } = stored();
    command.output('one');
    command.store();
    const keys = taken().map(({ key }) => key);
    command.forget();
    expect(
      taken()
        .map(({ key, value }) => [key, value])
        .sort(),
    ).toEqual(keys.map((key) => [key, null]).sort());
    command.output('late');
    command.store();
    expect(taken()).toEqual([]);
  });
});

describe.skipIf(process.platform !== 'linux')('a command of a host that was killed', () => {
  it('[REL-062] is gone when no process of it is left', async () => {
    const log = new MemoryLog();
    await storedIn(log);
    const interrupted = new InterruptedCommands();
    await interrupted.load(log, systemClock);
    expect(interrupted.of(COMMAND)).toEqual({ output: '', processes: 'gone' });
    expect(interrupted.of({ ...COMMAND, toolCallId: 'other' })).toBeUndefined();
  });

  it('[REL-062] is ended when it still runs', async () => {
    const log = new MemoryLog();
    const { environment } = await storedIn(log);
    expect(Object.keys(environment)).toEqual([CALL_VARIABLE]);
    const child: ChildProcess = spawn('sleep', ['60'], { env: { ...process.env, ...environment }, detached: true });
    await once(child, 'spawn');
    const exit = once(child, 'exit');
    const interrupted = new InterruptedCommands();
    await interrupted.load(log, systemClock);
    expect(interrupted.of(COMMAND)?.processes).toBe('ended');
    await exit;
    const forgotten: unknown[] = [];
    interrupted.forget({ record: (record) => void forgotten.push(record) });
    expect(forgotten).toEqual((await log.records('command')).map(({ key }) => ({ key, value: null })));
  });
});
