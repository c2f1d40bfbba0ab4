import { readFileSync } from 'node:fs';
import path from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { OrphanReaper } from '../../../src/gateway/project/orphan-reaper.js';
import { until } from '../../support/gateway-connections.js';
import { Rig, SHOW_TOKEN } from './support/rig.js';

/** It has a child, and neither of them ends when it is only asked to. */
const STUBBORN = `
process.on('SIGTERM', () => require('fs').writeFileSync('asked', ''));
const stubborn = 'process.on("SIGTERM", () => {}); console.log("ready"); setInterval(() => {}, 1e6)';
const child = require('child_process').spawn(process.execPath, ['-e', stubborn]);
child.stdout.once('data', () => {
  require('fs').writeFileSync('pids', process.pid + ' ' + child.pid);
  ${SHOW_TOKEN};
});
`;

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
}

describe.skipIf(process.platform !== 'linux')('a host that is killed (Linux shows who runs)', () => {
  let rig: Rig;
  beforeAll(async () => {
    rig = await Rig.open();
    return () => rig.close();
  }, 60_000);

  it('takes its providers along within seconds, with all that they started, also those that do not want to', async () => {
    const { folder } = await rig.place(STUBBORN);
    const pids = readFileSync(path.join(folder, 'pids'), 'utf8').split(' ').map(Number);
    expect(pids.map(isRunning)).toEqual([true, true]);
    await rig.kill();
    await until(() => !pids.some(isRunning), 20_000);
    // They were asked before they were killed.
    expect(readFileSync(path.join(folder, 'asked'), 'utf8')).toBe('');
  }, 30_000);
});

describe('the orphan reaper', () => {
  it('is kept by a process that goes when nobody is left, and comes back for the next', async () => {
    const reaper = new OrphanReaper();
    const forget = reaper.add(2 ** 30);
    const first = reaper.pid;
    expect(first).toBeGreaterThan(0);
    reaper.add(2 ** 30 + 1)();
    expect(reaper.pid).toBe(first);
    forget();
    expect(reaper.pid).toBeUndefined();
    await until(() => !isRunning(first ?? 0));
    const forgetAgain = reaper.add(2 ** 30);
    const second = reaper.pid ?? 0;
    expect(second).not.toBe(first);
    // Somebody kills it, too: the next process that is started gets a new one, which knows of both.
    process.kill(second, 'SIGKILL');
    await until(() => reaper.pid === undefined);
    const forgetOther = reaper.add(2 ** 30 + 1);
    expect(reaper.pid).toBeGreaterThan(0);
    forgetOther();
    forgetAgain();
  });
});
