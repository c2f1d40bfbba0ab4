import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { PassThrough, Writable } from 'node:stream';
import { describe, expect, it, onTestFinished } from 'vitest';
import { run } from '../src/cli.js';

const DAY_MS = 24 * 60 * 60 * 1_000;
const NOTICE = /^Atrium (\S+) is out; this is 0\.\d+\.\d+\. To update: npm install --global atrium\n$/;

/** A registry on this machine that knows one package. */
async function registry(latest: string) {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(`${request.method} ${request.url}`);
    const versions = { [latest]: { name: 'atrium', version: latest, dist: { tarball: 'http://127.0.0.1/none.tgz' } } };
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ name: 'atrium', 'dist-tags': { latest }, versions }));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const close = () => server.closeAllConnections();
  onTestFinished(() => {
    close();
    server.close();
  });
  return { asked, address: `http://127.0.0.1:${(server.address() as AddressInfo).port}/` };
}

/** The home of a user whose npm asks this registry, and whose project names another one. */
function homeOf(address: string, { config, project }: { config?: object; project?: object } = {}) {
  const home = mkdtempSync(path.join(tmpdir(), 'atrium-update-'));
  onTestFinished(() => rmSync(home, { recursive: true, force: true, maxRetries: 10 }));
  const folder = path.join(home, 'project');
  mkdirSync(path.join(home, '.config', 'atrium'), { recursive: true });
  mkdirSync(folder);
  writeFileSync(path.join(home, '.npmrc'), `registry=${address}\n`);
  writeFileSync(path.join(folder, '.npmrc'), 'registry=http://127.0.0.1:1/\n');
  if (config) writeFileSync(path.join(home, '.config', 'atrium', 'config.json'), JSON.stringify(config));
  if (project) writeFileSync(path.join(folder, 'atrium.json'), JSON.stringify(project));
  const answer = path.join(home, 'cache', 'latest-version.json');
  return { home, folder, answer, read: () => (existsSync(answer) ? readFileSync(answer, 'utf8').trim() : undefined) };
}

/** Runs a quick command in a terminal, or where nobody reads along. */
async function command(home: string, { args = ['completions', 'bash'], isTTY = true, PATH = process.env.PATH } = {}) {
  const said = { stdout: '', stderr: '' };
  const stream = (name: keyof typeof said) => {
    const write = (chunk: Buffer, _: unknown, done: () => void) => {
      said[name] += chunk;
      done();
    };
    return Object.assign(new Writable({ write }), { isTTY });
  };
  const code = await run(['node', 'atrium', ...args], {
    ...{ stdin: new PassThrough(), stdout: stream('stdout'), stderr: stream('stderr') },
    // npm finds the file of its user by the home folder.
    env: { PATH, HOME: home, ATRIUM_CODE_CACHE: path.join(home, 'cache'), ATRIUM_DISCOVERY: '0' },
    ...{ home, cwd: path.join(home, 'project'), signals: process, raise: () => {} },
    exit: (status) => {
      throw new Error(`exit ${status}`);
    },
  });
  expect(code).toBe(0);
  return said;
}

describe.skipIf(process.platform !== 'linux')('the notice of a newer version (skipped: Linux only)', () => {
  it('is off: nothing is asked, also where a project switches it on', async () => {
    const { asked, address } = await registry('99.0.0');
    const { home, answer } = homeOf(address, { project: { updateNotice: true } });
    writeFileSync(path.join(home, '.config', 'atrium', 'config.json'), '{ "updateNotice": false }');
    expect((await command(home)).stderr).toBe('');
    const { stdout } = await command(home, { args: ['doctor', '--data-dir', path.join(home, 'data')] });
    expect(stdout).not.toMatch(/ update /);
    expect([existsSync(answer), asked]).toEqual([false, []]);
  });

  it('is asked for once a day, by npm and its registry, and said by later commands and by doctor', async () => {
    const { asked, address } = await registry('99.1.0');
    const { home, answer, read } = homeOf(address, { config: { updateNotice: true } });
    expect((await command(home, { isTTY: false })).stderr).toBe('');
    expect(existsSync(answer)).toBe(false);

    expect((await command(home)).stderr).toBe('');
    await expect.poll(read).toBe('"99.1.0"');
    const { stdout, stderr } = await command(home);
    expect(NOTICE.exec(stderr)?.[1]).toBe('99.1.0');
    expect(stdout).not.toContain('99.1.0');
    const doctor = await command(home, { args: ['doctor', '--data-dir', path.join(home, 'data')], isTTY: false });
    expect(doctor.stdout).toMatch(/! update +Atrium 99\.1\.0 is out.*\n +Run: npm install --global atrium/);
    expect(asked).toEqual(['GET /atrium']);

    const yesterday = new Date(Date.now() - DAY_MS - 60_000);
    utimesSync(answer, yesterday, yesterday);
    expect((await command(home)).stderr).toMatch(NOTICE);
    await expect.poll(read).toBe('"99.1.0"');
    expect(asked).toHaveLength(2);
  });

  it('says nothing about older versions, previews and what is no version, and fails no command', async () => {
    const { home, answer, read } = homeOf('http://127.0.0.1:1/', { config: { updateNotice: true } });
    // There is no npm.
    expect((await command(home, { PATH: home })).stderr).toBe('');
    expect(read()).toBe('');
    for (const text of ['"0.0.9"', '"99.0.0-beta.1"', '{"error":{}}', '', '"99.0.0\u001b[31m"']) {
      writeFileSync(answer, text);
      expect((await command(home)).stderr, text).toBe('');
    }
    writeFileSync(path.join(home, '.config', 'atrium', 'config.json'), '{ "updateNotice": "yes" }');
    expect((await command(home)).stderr).toBe('');
  });
});
