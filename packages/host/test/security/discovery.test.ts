import { mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { announceInstance, type Instance, isProcessAlive, runningInstances } from '../../src/server/instances.js';

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'atrium-discovery-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

function instance(pid: number, startedAt = '2026-01-01T00:00:00.000Z'): Instance {
  return { pid, host: 'localhost', port: 9300, url: 'ws://localhost:9300', startedAt };
}

describe('discovery', () => {
  it('finds nothing where no host has ever run', async () => {
    expect(await runningInstances(folder)).toEqual([]);
  });

  it('finds a running instance until it takes its entry back', async () => {
    const retract = await announceInstance(folder, instance(process.pid));
    expect(await runningInstances(folder)).toEqual([instance(process.pid)]);
    await retract();
    expect(await runningInstances(folder)).toEqual([]);
  });

  it('takes an entry back that is gone already', async () => {
    const retract = await announceInstance(folder, instance(process.pid));
    await rm(path.join(folder, 'instances'), { recursive: true });
    await expect(retract()).resolves.toBeUndefined();
  });

  it.skipIf(process.platform === 'win32')('keeps entries for the owner only', async () => {
    await announceInstance(folder, instance(process.pid));
    expect((await stat(path.join(folder, 'instances'))).mode & 0o777).toBe(0o700);
    expect((await stat(path.join(folder, 'instances', `${process.pid}.json`))).mode & 0o777).toBe(0o600);
  });

  it('ignores what dead instances left, and cleans it up', async () => {
    await announceInstance(folder, instance(11, '2026-01-02T00:00:00.000Z'));
    await announceInstance(folder, instance(12));
    await announceInstance(folder, instance(13));
    const alive = (pid: number) => pid !== 13;
    expect((await runningInstances(folder, alive)).map(({ pid }) => pid)).toEqual([12, 11]);
    expect((await readdir(path.join(folder, 'instances'))).sort()).toEqual(['11.json', '12.json']);
  });

  it.each(['', '{', 'null', '[]', '{"pid":7}', '{"pid":8,"host":"h","port":1,"url":"u","startedAt":"t"}'])(
    'ignores an entry that says %s',
    async (text) => {
      await announceInstance(folder, instance(1));
      await writeFile(path.join(folder, 'instances', '7.json'), text);
      expect((await runningInstances(folder, () => true)).map(({ pid }) => pid)).toEqual([1]);
    },
  );

  it('tells living processes from dead ones', () => {
    expect(isProcessAlive(process.pid)).toBe(true);
    expect(isProcessAlive(2 ** 22 + 1)).toBe(false);
  });
});
