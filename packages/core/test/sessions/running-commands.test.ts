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
