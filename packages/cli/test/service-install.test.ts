import { execFile, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it, onTestFinished } from 'vitest';
import { findHost } from '../src/service/running-host.js';
import { serviceUnit, type UnitOptions } from '../src/service/unit.js';
import { isBuilt } from './support/host.js';
import { atrium } from './support/run-cli.js';

const execute = promisify(execFile);
const VERIFIER = '/usr/bin/systemd-analyze';
/** What a shell, systemd and XML would each read as something else. */
const STRANGE = 'a b%h$HOME"\'&<\\';

const OPTIONS: UnitOptions = {
  platform: 'linux',
  home: '/home/me',
  env: { PATH: `/usr/bin:/${STRANGE}`, LANG: 'de_DE.UTF-8', ANTHROPIC_API_KEY: 'secret-key' },
  uid: 501,
  name: 'atrium',
  command: ['/usr/bin/node', '/opt/atrium.js', 'serve', '--data-dir', `/data/${STRANGE}`],
  dataDir: `/data/${STRANGE}`,
};

async function newHome(): Promise<string> {
  const home = await mkdtemp(path.join(tmpdir(), 'atrium-service-'));
  onTestFinished(() => rm(home, { recursive: true, force: true }));
  return home;
}

/** The words of a line of systemd, as systemd reads them. */
function wordsOf(line: string): string[] {
  return [...line.matchAll(/"((?:\\.|[^"\\])*)"/g)].map(([, text = '']) =>
    text.replace(/\\(.)/g, '$1').replaceAll('%%', '%').replaceAll('$$', '$'),
  );
}

function execStart(unit: string): string[] {
  return wordsOf(/^ExecStart=(.*)$/m.exec(unit)?.[1] ?? '');
}

describe('the host as a service of the system', { timeout: 60_000 }, () => {
  it('is a unit of systemd whose command is the one that was meant, and that holds no key', () => {
    const { file, text } = serviceUnit(OPTIONS) ?? { file: '', text: '' };
    expect(file).toBe('/home/me/.config/systemd/user/atrium.service');
    expect(execStart(text)).toEqual(OPTIONS.command);
    expect(text).toContain('Restart=on-failure');
    expect(text).not.toContain('secret-key');
    expect(text.match(/^Environment=/gm)).toHaveLength(2);
    const moved = serviceUnit({ ...OPTIONS, env: { XDG_CONFIG_HOME: '/conf' } });
    expect(moved?.file).toBe('/conf/systemd/user/atrium.service');
  });

  it.skipIf(!existsSync(VERIFIER))('is accepted by systemd (skipped: needs systemd-analyze)', async () => {
    const home = await newHome();
    const command = [process.execPath, '/opt/atrium.js', 'serve', '--data-dir', `/data/${STRANGE}`];
    const file = path.join(home, 'atrium.service');
    await writeFile(file, serviceUnit({ ...OPTIONS, command })?.text ?? '');
    const { stderr } = await execute(VERIFIER, ['verify', '--user', file], {
      env: { HOME: home, XDG_RUNTIME_DIR: home },
    });
    expect(stderr).not.toContain('atrium.service');
  });

  it('is an agent of launchd that is started again when it fails, and not when it was stopped', () => {
    const { file, text, enable } = serviceUnit({ ...OPTIONS, platform: 'darwin' }) ?? { file: '', text: '' };
    expect(file).toBe('/home/me/Library/LaunchAgents/dev.atrium.atrium.plist');
    const [, list = ''] = /<array>([\s\S]*?)<\/array>/.exec(text) ?? [];
    const words = [...list.matchAll(/<string>(.*)<\/string>/g)].map(([, word = '']) =>
      word.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&'),
    );
    expect(words).toEqual(OPTIONS.command);
    expect(list).not.toContain(STRANGE);
    expect(text).toContain('<key>KeepAlive</key><dict><key>SuccessfulExit</key><false/></dict>');
    expect(text).not.toContain('secret-key');
    expect(enable).toEqual([['launchctl', 'bootstrap', 'gui/501', file]]);
  });

  it('is unknown elsewhere', () => {
    expect(serviceUnit({ ...OPTIONS, platform: 'win32' })).toBeUndefined();
  });
});

describe.skipIf(process.platform !== 'linux')(
  'atrium service install (skipped: needs Linux)',
  { timeout: 60_000 },
  () => {
    /** Stands in for `systemctl`, which would change this machine: it writes down what it is told, and may fail. */
    async function withManager(
      home: string,
      exitCode = 0,
    ): Promise<{ env: Record<string, string>; told: () => Promise<string> }> {
      const bin = path.join(home, 'bin');
      const notes = path.join(home, 'told');
      await mkdir(bin);
      await writeFile(
        path.join(bin, 'systemctl'),
        `#!/bin/sh\necho "$@" >> '${notes}'\necho refused >&2\nexit ${exitCode}\n`,
      );
      await chmod(path.join(bin, 'systemctl'), 0o755);
      return {
        env: { HOME: home, PATH: `${bin}:/usr/bin:/bin` },
        told: () => readFile(notes, 'utf8').catch(() => ''),
      };
    }
    const unitIn = (home: string) => path.join(home, '.config/systemd/user/atrium.service');
    const answer = async (args: string[], env: Record<string, string>) => {
      const { said, ended } = atrium(['service', ...args], env);
      return { code: await ended(), ...said };
    };

    it('writes the unit, has it started, and can be run again', async () => {
      const home = await newHome();
      const { env, told } = await withManager(home);
      const install = ['install', '--json', '--data-dir', path.join(home, 'data'), '--', '--port', '0', '--trust', '.'];
      const first = await answer(install, env);
      expect([first.code, JSON.parse(first.stdout)]).toEqual([0, { file: unitIn(home), outcome: 'installed' }]);
      expect(await told()).toBe('--user daemon-reload\n--user enable --now atrium.service\n');
      expect((await stat(unitIn(home))).mode & 0o777).toBe(0o600);
      const command = execStart(await readFile(unitIn(home), 'utf8'));
      expect(command.slice(-4)).toEqual(['--port', '0', '--trust', process.cwd()]);
      expect(JSON.parse((await answer(install, env)).stdout)).toMatchObject({ outcome: 'unchanged' });
      const other = [...install.slice(0, -1), '/srv'];
      expect(JSON.parse((await answer(other, env)).stdout)).toMatchObject({ outcome: 'changed' });
      // The running host keeps its turns: only the file is read again.
      expect((await told()).split('\n').slice(2)).toEqual(['--user daemon-reload', '']);

      expect(JSON.parse((await answer(['uninstall', '--json'], env)).stdout)).toEqual({ wasThere: true });
      expect(await told()).toContain('--user disable --now atrium.service');
      expect(existsSync(unitIn(home))).toBe(false);
      expect(JSON.parse((await answer(['uninstall', '--json'], env)).stdout)).toEqual({ wasThere: false });
    });

    it('leaves nothing behind when the system refuses', async () => {
      const home = await newHome();
      const { env } = await withManager(home, 1);
      const { code, stderr } = await answer(['install', '--data-dir', path.join(home, 'data')], env);
      expect(code).toBe(1);
      expect(stderr).toContain('`systemctl --user daemon-reload` failed: refused');
      expect(existsSync(unitIn(home))).toBe(false);
      const none = await answer(['install', '--data-dir', path.join(home, 'data')], { HOME: home, PATH: home });
      expect(none.stderr).toContain('there is no systemctl on this machine');
    });

    it('leaves a file of somebody else alone', async () => {
      const home = await newHome();
      const { env, told } = await withManager(home);
      await mkdir(path.dirname(unitIn(home)), { recursive: true });
      await writeFile(unitIn(home), '[Service]\nExecStart=/bin/true\n');
      for (const verb of ['install', 'uninstall']) {
        const { code, stderr } = await answer([verb, '--data-dir', path.join(home, 'data')], env);
        expect([code, stderr]).toEqual([1, expect.stringContaining('was not written by Atrium')]);
      }
      expect(await told()).toBe('');
      expect(await readFile(unitIn(home), 'utf8')).toContain('/bin/true');
    });

    it.each([
      [['--', '--prot', '1'], 'knows no "--prot"'],
      [['--', 'extra'], 'knows no "extra"'],
      [['--', '--data-dir', '/x'], 'before the --'],
      [['--', '--connection-token', 'abc'], '--connection-token-file'],
      [['--name', '../evil'], 'is no name of a service'],
      [['--data-dir', '/tmp/a\nExecStartPre=/bin/evil'], 'control characters'],
    ])('refuses %j at once', async (args, words) => {
      const home = await newHome();
      const { env, told } = await withManager(home);
      const { code, stderr } = await answer(['install', ...args], env);
      expect([code, stderr]).toEqual([2, expect.stringContaining(words)]);
      expect(await told()).toBe('');
    });

    it.skipIf(!isBuilt)(
      'names a command that runs the host and ends well; a folder has one host (skipped unless it has been built)',
      async () => {
        const home = await newHome();
        const dataDir = path.join(home, 'data % folder');
        const printed = await answer(
          ['install', '--print', '--data-dir', dataDir, '--', '--port', '0', '--no-gateway'],
          {
            HOME: home,
          },
        );
        const [program = '', ...args] = execStart(printed.stdout);
        const child = spawn(program, args, { cwd: '/', env: { HOME: home, PATH: process.env.PATH }, stdio: 'ignore' });
        onTestFinished(() => void child.kill('SIGKILL'));
        await expect.poll(() => findHost(dataDir), { timeout: 30_000 }).toBeDefined();
        child.kill('SIGTERM');
        // Started again on failure only: a host that was stopped has to end with 0.
        expect(await new Promise((resolve) => child.once('exit', resolve))).toBe(0);
      },
    );
  },
);
