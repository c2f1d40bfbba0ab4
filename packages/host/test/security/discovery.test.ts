import { mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
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

  it('shows where the token is', async () => {
    const withToken = { ...instance(process.pid), tokenFile: '/t' };
    await announceInstance(folder, withToken);
    expect(await runningInstances(folder)).toEqual([withToken]);
  });

  it('looks at no other files', async () => {
    await announceInstance(folder, instance(7));
    for (const name of ['x7.json', '7.json.tmp', '7json', '77.js'])
      await writeFile(path.join(folder, 'instances', name), JSON.stringify(instance(7)));
    expect(await runningInstances(folder, () => true)).toHaveLength(1);
    expect(await runningInstances(folder, () => false)).toEqual([]);
    expect(await readdir(path.join(folder, 'instances'))).toHaveLength(4);
  });

  const whole = { pid: 7, host: 'h', port: 1, url: 'u', startedAt: 't', tokenFile: 'f', certificateFile: 'c' };
  const broken = (['pid', 'host', 'port', 'url', 'startedAt', 'tokenFile', 'certificateFile'] as const).map((member) =>
    JSON.stringify({ ...whole, [member]: false }),
  );
  it.each(['', '{', 'null', '7', '[]', '{"pid":7}', JSON.stringify({ ...whole, pid: 8 }), ...broken])(
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
    const kill = vi.spyOn(process, 'kill').mockImplementationOnce(() => {
      throw Object.assign(new Error('not ours'), { code: 'EPERM' });
    });
    expect(isProcessAlive(1)).toBe(true);
    kill.mockRestore();
  });
});
