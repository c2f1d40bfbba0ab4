import { describe, expect, it, onTestFinished } from 'vitest';
import { atrium, isBuilt, newDataFolder } from './support.js';

const NO_PORT = ['--port', '0'];

async function json(args: readonly string[]): Promise<{ code: number | null; value: Record<string, unknown> }> {
  const { said, ended } = atrium(args);
  const code = await ended();
  return { code, value: said.stdout === '' ? { stderr: said.stderr } : JSON.parse(said.stdout) };
}

async function stopAfterwards(dataDir: string): Promise<void> {
  onTestFinished(async () => {
    await atrium(['service', 'stop', '--data-dir', dataDir]).ended();
  });
}

describe.skipIf(!isBuilt)('the host in the background (skipped unless it has been built)', () => {
  it('[GW-009] [GW-010] is one per data folder, however many start it at once', async () => {
    const dataDir = await newDataFolder();
    await stopAfterwards(dataDir);
    const launchers = Array.from({ length: 4 }, () => atrium(['serve', '--detach', '--data-dir', dataDir, ...NO_PORT]));
    const codes = await Promise.all(launchers.map(({ ended }) => ended()));
    expect(codes).toEqual([0, 0, 0, 0]);
    const urls = launchers.map(({ said }) => /ws:\/\/localhost:\d+ \(process \d+\)/.exec(said.stdout)?.[0]);
    expect(new Set(urls).size).toBe(1);
    expect(urls[0]).toBeDefined();
  }, 30_000);

  it('[GW-008] outlives the command that started it, says where it is, and stops', async () => {
    const dataDir = await newDataFolder();
    await stopAfterwards(dataDir);
    const before = await json(['service', 'status', '--json', '--data-dir', dataDir]);
    expect(before).toEqual({ code: 1, value: { isRunning: false } });
    await atrium(['serve', '--detach', '--data-dir', dataDir, ...NO_PORT]).ended();
    const { code, value } = await json(['service', 'status', '--json', '--data-dir', dataDir]);
    expect([code, value.isRunning]).toEqual([0, true]);
    expect(await json(['service', 'stop', '--json', '--data-dir', dataDir])).toMatchObject({
      code: 0,
      value: { wasRunning: true, pid: value.pid },
    });
    expect(await json(['service', 'stop', '--json', '--data-dir', dataDir])).toMatchObject({
      code: 0,
      value: { wasRunning: false },
    });
  }, 30_000);

  it('[GW-011] ends by itself when nobody has needed it for a while', async () => {
    const dataDir = await newDataFolder();
    const host = atrium(['serve', '--exit-when-idle', '0.3', '--data-dir', dataDir, ...NO_PORT]);
    expect(await host.ended()).toBe(0);
    expect(host.said.stderr).toContain('nobody needs it');
  }, 20_000);

  it('[GW-223] is started anew after it was killed', async () => {
    const dataDir = await newDataFolder();
    await stopAfterwards(dataDir);
    const args = ['serve', '--detach', '--data-dir', dataDir, ...NO_PORT];
    await atrium(args).ended();
    const { value } = await json(['service', 'status', '--json', '--data-dir', dataDir]);
    process.kill(Number(value.pid), 'SIGKILL');
    expect(await atrium(args).ended()).toBe(0);
    const again = await json(['service', 'status', '--json', '--data-dir', dataDir]);
    expect(again.value.isRunning).toBe(true);
    expect(again.value.pid).not.toBe(value.pid);
  }, 30_000);
});

describe.skipIf(!isBuilt)('atrium trust (skipped unless it has been built)', () => {
  it('remembers a folder until it is taken back', async () => {
    const dataDir = await newDataFolder();
    const list = async () => (await json(['trust', '--list', '--json', '--data-dir', dataDir])).value;
    expect(await list()).toEqual([]);
    expect(await atrium(['trust', process.cwd(), '--data-dir', dataDir]).ended()).toBe(0);
    expect(await list()).toEqual([process.cwd()]);
    expect(await atrium(['trust', '--remove', process.cwd(), '--data-dir', dataDir]).ended()).toBe(0);
    expect(await list()).toEqual([]);
  });

  it('says what is missing', async () => {
    const dataDir = await newDataFolder();
    const { said, ended } = atrium(['trust', '--data-dir', dataDir]);
    expect(await ended()).toBe(2);
    expect(said.stderr).toContain('name a folder');
  });
});
