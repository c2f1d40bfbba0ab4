/** `atrium devices`, and a program that becomes a device. */
import { readdir, readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import type { Device, DeviceInvitation } from '@atrium/protocol/ahp-1';
import { deviceLink } from '@atrium/protocol/ahp-1';
import { describe, expect, it } from 'vitest';
import { deviceTokenFor } from '../src/connect/become-device.js';
import { findDevice } from '../src/devices.js';
import { openChat, PROMPT, say } from './support/chat.js';
import { isBuilt, newDataFolder, sharedHost } from './support/host.js';

describe.skipIf(!isBuilt)('atrium devices (skipped unless it has been built)', { timeout: 60_000 }, () => {
  const host = sharedHost();
  const invite = async (...args: string[]) =>
    JSON.parse((await host().run(['devices', 'add', '--json', ...args])).stdout) as DeviceInvitation;
  const list = async () => JSON.parse((await host().run(['devices', 'list', '--json'])).stdout) as Device[];
  const linkOf = ({ addresses, code, fingerprint }: DeviceInvitation) =>
    deviceLink({ address: addresses[0] ?? '', code, fingerprint });

  it('[DEV-010] shows a code as QR, link and digits', async () => {
    const { code, stdout } = await host().run(['devices', 'add', '--role', 'approver']);
    expect(code).toBe(0);
    expect(stdout).toMatch(/█/);
    expect(stdout).toMatch(/http:\/\/localhost:\d+\/#add=[\w-]{22}&key=[\da-f]{32}/);
    expect(stdout).toMatch(/digits where its page asks for a token: \d{8}/);
    expect(stdout).toMatch(/Key of this host: ([\da-f]{4} ?){8}/);
  });

  it('[DEV-010] [DEV-012] [DEV-013] lets a program in, which keeps its token for itself; it is listed, renamed and removed', async () => {
    const dataDir = await newDataFolder();
    const invitation = await invite('--name', 'Robot', '--role', 'viewer');
    const link = linkOf(invitation);
    // There is no terminal to chat in: it is a device by then.
    const attached = await host().run(['attach', link, '--data-dir', dataDir]);
    expect(attached.stderr).toContain('This machine is a device of');
    const [file = ''] = await readdir(path.join(dataDir, 'hosts'));
    const kept = path.join(dataDir, 'hosts', file);
    if (process.platform !== 'win32') expect((await stat(kept)).mode & 0o777).toBe(0o600);
    const { token } = JSON.parse(await readFile(kept, 'utf8')) as { token: string };
    expect(attached.stdout + attached.stderr).not.toContain(token);
    const address = new URL(link).origin;
    expect(await deviceTokenFor(address.replace('http', 'ws'), dataDir)).toBe(token);

    const asDevice = ['--url', address, '--data-dir', dataDir];
    expect((await host().run(['sessions', 'list', ...asDevice])).code).toBe(0);
    expect((await host().run(['devices', 'list', ...asDevice])).code).toBe(5);
    expect(await list()).toMatchObject([{ name: 'Robot', role: 'viewer', lastUsed: { address: expect.any(String) } }]);
    expect((await host().run(['devices', 'rename', 'robot', 'Old robot'])).code).toBe(0);
    expect((await host().run(['devices', 'list'])).stdout).toMatch(/^Old robot · viewer · last here/m);
    expect((await host().run(['devices', 'remove', 'Old robot'])).stdout).toContain('Old robot is out.');
    expect(await list()).toEqual([]);
    expect((await host().run(['sessions', 'list', ...asDevice])).stderr).toContain('refuses the token');
  });

  it('[DEV-013] [DEV-023] changes what a device may do, and takes bounds and an end away again', async () => {
    const dataDir = await newDataFolder();
    const link = linkOf(await invite('--name', 'Changing', '--role', 'owner'));
    await host().run(['attach', link, '--data-dir', dataDir]);
    const asDevice = ['--url', new URL(link).origin, '--data-dir', dataDir];
    expect((await host().run(['devices', 'list', ...asDevice])).code).toBe(0);
    const change = (...args: string[]) => host().run(['devices', 'change', 'Changing', ...args]);
    const folder = path.resolve('/tmp');
    expect((await change('--role', 'viewer', '--folder', folder, '--until', '2090-01-31')).stdout).toBe(
      `Changing is a viewer now: only ${folder}, until 2090-01-31 00:00.\n`,
    );
    expect((await host().run(['devices', 'list', ...asDevice])).code).toBe(5);
    expect(await list()).toMatchObject([{ role: 'viewer', bounds: { folders: [folder] } }]);
    expect((await host().run(['devices', 'list'])).stdout).toContain(`Changing · viewer · only ${folder} · last here`);
    expect((await change('--no-folders', '--no-sessions', '--no-until', '--role', 'approver')).stdout).toBe(
      'Changing is an approver now: everywhere, without an end.\n',
    );
    const [device] = await list();
    expect(device).not.toHaveProperty('bounds');
    expect(device).not.toHaveProperty('expiresAt');
    for (const args of [[], ['--role', 'admin'], ['--until', 'soon'], ['--session', 'no-such-session']])
      expect([args, (await change(...args)).code]).toEqual([args, args[0] === '--session' ? 4 : 2]);
    expect((await host().run(['devices', 'change', 'Nobody', '--no-until'])).code).toBe(2);
    expect(await list()).toEqual([device]);
    await host().run(['devices', 'remove', 'Changing']);
  });

  it('[DEV-012] sends nothing to a host with another key', async () => {
    const dataDir = await newDataFolder();
    const link = linkOf(await invite()).replace(/key=.*/, `key=${'0'.repeat(32)}`);
    const { code, stderr } = await host().run(['attach', link, '--data-dir', dataDir]);
    expect(code).toBe(1);
    expect(stderr).toContain('is not the host that the link is from. Nothing was sent.');
    expect(await readdir(dataDir).catch(() => [])).toEqual([]);
  });

  it('[DEV-010] [DEV-013] are listed, added and removed in a chat', async () => {
    const { terminal } = await openChat('chat', { host: host() });
    await terminal.sees(PROMPT);
    await say(terminal, '/devices');
    await terminal.sees(/Devices:\n› Add a device/);
    terminal.keys('Enter');
    const shown = await terminal.sees(/The code counts once, until/);
    expect(shown).toMatch(/█/);
    const link = linkOf(await invite('--name', 'In the chat'));
    await host().run(['attach', link, '--data-dir', await newDataFolder()]);
    await say(terminal, '/devices');
    await terminal.sees(/Add a device\n +In the chat · driver/);
    terminal.keys('Down');
    terminal.keys('Enter');
    await terminal.sees(/Send In the chat away\?\n› Keep it/);
    terminal.keys('Down');
    terminal.keys('Enter');
    await terminal.sees(/In the chat is out\./);
    expect(await list()).toEqual([]);
  });

  it('[DEV-008] replaces the token that the host made, and the next command finds the new one', async () => {
    const file = path.join(host().dataDir, 'connection-token');
    const before = await readFile(file, 'utf8');
    expect((await host().run(['devices', 'rotate'])).stdout).toContain('Cut off: 1 connections');
    expect(await readFile(file, 'utf8')).not.toBe(before);
    expect((await host().run(['devices', 'list'])).code).toBe(0);
  });
});

describe('devices in words', () => {
  const device = (id: string, name: string): Device => ({
    ...{ id: `device-${id}`, name, role: 'viewer', createdAt: '2026-01-01T00:00:00Z', connections: 0 },
  });

  it('[DEV-013] are found by name or by the beginning of their id, and by nothing that fits two', () => {
    const items = [device('abc', 'Phone'), device('abd', 'Desk'), device('x', 'Desk')];
    expect(findDevice(items, 'phone').id).toBe('device-abc');
    expect(findDevice(items, 'abd').id).toBe('device-abd');
    for (const text of ['desk', 'ab', 'nobody']) expect(() => findDevice(items, text)).toThrow(text);
  });
});
