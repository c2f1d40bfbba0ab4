/** The desktop of the host's machine: which program shows something there, and that no text becomes a command. */
import { chmod, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { commandFor, findDesktop } from '../../src/notifications/desktop.js';
import { END_DELAY_MS } from '../../src/notifications/limits.js';
import { begin, openNotifications } from '../support/notification-fixture.js';
import { tempFolder } from '../support/temp-folder.js';

const EVIL = '--help"; $(touch x) <b>&\'`';
const LINUX = { DISPLAY: ':0', DBUS_SESSION_BUS_ADDRESS: 'unix:path=/run/bus' };
const all = (): boolean => true;

describe('the desktop', () => {
  it('[DEV-045] is told by the program of its system, with texts as arguments', () => {
    const linux = commandFor({ platform: 'linux', env: LINUX, has: all }, EVIL, EVIL);
    expect(linux?.command).toBe('notify-send');
    expect(linux?.args.slice(1)).toEqual(['--', EVIL, '--help"; $(touch x) &lt;b&gt;&amp;\'`']);
    const mac = commandFor({ platform: 'darwin', env: {}, has: all }, EVIL, EVIL);
    expect(mac?.command).toBe('osascript');
    expect(mac?.args.slice(2)).toEqual([EVIL, EVIL]);
    expect(mac?.args[1]).not.toContain('touch');
    const windows = commandFor({ platform: 'win32', env: {}, has: all }, EVIL, EVIL);
    expect(windows?.env).toEqual({ ATRIUM_TITLE: EVIL, ATRIUM_BODY: EVIL });
    const script = Buffer.from(windows?.args.at(-1) ?? '', 'base64').toString('utf16le');
    expect(script).toContain('CreateTextNode($env:ATRIUM_BODY)');
    expect(script).not.toContain('touch');
  });

  it.each([
    ['a server without a screen', { platform: 'linux', env: { DBUS_SESSION_BUS_ADDRESS: 'x' }, has: all }],
    ['a service without a session', { platform: 'linux', env: { DISPLAY: ':0' }, has: all }],
    ['a desktop without the program', { platform: 'linux', env: LINUX, has: (): boolean => false }],
    ['a Mac over ssh', { platform: 'darwin', env: { SSH_CONNECTION: '1' }, has: all }],
    ['a Windows without PowerShell', { platform: 'win32', env: {}, has: (): boolean => false }],
  ] as const)('[DEV-045] is off on %s', (_what, machine) => {
    expect(findDesktop(machine)).toBeUndefined();
  });

  it.skipIf(process.platform === 'win32')(
    '[DEV-045] a program that is there is run as it is, once for an event',
    async () => {
      const folder = await tempFolder();
      const seen = path.join(folder, 'seen');
      const program = path.join(folder, 'notify-send');
      await writeFile(program, `#!/bin/sh\nprintf '%s\\n' "$@" >> '${seen}'\n`);
      await chmod(program, 0o755);
      const before = process.env.PATH;
      process.env.PATH = `${folder}${path.delimiter}${before}`;
      try {
        const desktop = findDesktop({ platform: 'linux', env: LINUX, has: all });
        const fixture = await openNotifications({ rule: { events: [] }, notifications: { desktop } });
        const { client, clock, chat, uri } = fixture;
        client.dispatch(uri, { type: 'session/titleChanged', title: '--version' });
        await client.request('atrium/setReceiver', { kind: 'desktop' });
        expect((await client.ask('atrium/setReceiver', { kind: 'desktop' })).error?.message).toContain('already');
        (await begin(fixture)).finish();
        await client.action(chat, 'chat/turnComplete');
        await clock.advance(END_DELAY_MS);
        await expect
          .poll(() => readFile(seen, 'utf8').catch(() => ''))
          .toBe('--app-name=Atrium\n--\n--version\nIs done\n');
      } finally {
        process.env.PATH = before;
      }
    },
  );

  it('[DEV-045] cannot be added where there is none', async () => {
    const { client } = await openNotifications();
    expect((await client.ask('atrium/setReceiver', { kind: 'desktop' })).error?.message).toContain('no desktop');
  });
});
