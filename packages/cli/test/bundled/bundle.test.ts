/** The command as it is shipped: one bundle, loaded bit by bit, with compiled code from the cache. */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cp, mkdir, mkdtemp, readdir, readFile, realpath, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, it, onTestFinished } from 'vitest';
import { ModelServer } from '../../../host/test/support/model-server.js';
import { newDataFolder, newFolder, SERVE } from '../support/host.js';
import { COMMAND, type Environment, endOf, spawnAtrium, surroundings } from '../support/run-cli.js';

const execute = promisify(execFile);
const BIN = fileURLToPath(new URL('../../bin', import.meta.url));
const MCP_SERVER = fileURLToPath(new URL('../../../host/test/support/mcp-server.mjs', import.meta.url));

async function newTempFolder(): Promise<string> {
  const folder = await realpath(await mkdtemp(path.join(tmpdir(), 'atrium-bundle-')));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

/** Lets `node` run a file before the command. */
async function preloaded(code: string): Promise<Environment> {
  const file = path.join(await newTempFolder(), 'preload.cjs');
  await writeFile(file, code);
  return { NODE_OPTIONS: `--require ${file}` };
}

/** The files of the bundle that a command loads. */
async function loadedBy(args: readonly string[], env: Environment = {}): Promise<string[]> {
  const hook = await preloaded(`
    const fs = require('node:fs');
    const { readFileSync } = fs;
    fs.readFileSync = (file, ...rest) => {
      if (String(file).startsWith(${JSON.stringify(path.dirname(COMMAND))})) process.stderr.write('loads ' + file + '\\n');
      return readFileSync(file, ...rest);
    };`);
  const { stderr } = await endOf(spawnAtrium(args, { ...env, ...hook }));
  return [...stderr.matchAll(/^loads (.*)$/gm)].map(([, file = '']) => path.basename(file).replace(/-[\w-]{8}\./, '.'));
}

describe('the bundle', { timeout: 60_000 }, () => {
  it('loads what a command needs, and nothing else', async () => {
    const dataDir = await newDataFolder();
    const forHelp = await loadedBy(['--help']);
    const forRun = await loadedBy(['run', '--no-start', 'x'], { ATRIUM_DATA_DIR: dataDir });
    expect(forHelp).toContain('command.cjs');
    expect(forRun.length).toBeGreaterThan(forHelp.length);
    for (const loaded of [forHelp, forRun]) {
      for (const file of ['run-host.cjs', 'sqlite-log.cjs', 'run-chat.cjs', 'package-yaml.cjs'])
        expect(loaded).not.toContain(file);
    }
  });

  it('starts a host without what only some sessions use', async () => {
    const hook = await preloaded(`
      const { Module } = require('node:module');
      const { _load } = Module;
      Module._load = (name, ...rest) => { process.stderr.write('requires ' + name + '\\n'); return _load(name, ...rest); };
      const fs = require('node:fs');
      const { readFileSync } = fs;
      fs.readFileSync = (file, ...rest) => { process.stderr.write('reads ' + file + '\\n'); return readFileSync(file, ...rest); };
      const { AsyncLocalStorage } = require('node:async_hooks');
      AsyncLocalStorage.prototype.run = () => { throw new Error('a store slows every promise down'); };`);
    const serve = spawnAtrium(SERVE, { ...hook, ATRIUM_DATA_DIR: await newDataFolder() });
    await serve.says(/READY/);
    expect(serve.said.stderr).toMatch(/^reads .*run-host-.*\.cjs$/m);
    expect(serve.said.stderr).not.toMatch(/^requires .*pty/m);
    expect(serve.said.stderr).not.toMatch(
      /^reads .*(package-(?!on-use)|session-|judge-|validators-|streamableHttp-|run-chat-)/m,
    );
  });

  it('starts for a user whom the system does not know', async () => {
    const hook = await preloaded(`require('node:os').homedir = () => { throw new Error('no such user'); };`);
    expect(await endOf(spawnAtrium(['--version'], hook))).toMatchObject({ code: 0, stderr: '' });
  });

  it('says where an error is, in words of the sources', async () => {
    const hook = await preloaded(`
      const http = require('node:http');
      const { createServer } = http;
      http.createServer = (...args) => { process.stderr.write(new Error('here').stack + '\\n'); return createServer(...args); };`);
    const serve = spawnAtrium(SERVE, { ...hook, ATRIUM_DATA_DIR: await newDataFolder() });
    await serve.says(/READY/);
    const [, name = '', file = '', line = ''] =
      /at (\w+) \((.*run-host-.*\.cjs):(\d+):\d+\)/.exec(serve.said.stderr) ?? [];
    const lines = (await readFile(file, 'utf8')).split('\n');
    expect(lines[Number(line) - 1]).toMatch(/createServer\)?\(/);
    const above = lines.slice(0, Number(line)).join('\n');
    expect(above.lastIndexOf(`function ${name}(`)).toBeGreaterThan(0);
  });

  it('says the same with the cache, without it, and with one that it cannot use [REL-090]', async () => {
    const folder = path.join(await newTempFolder(), 'code');
    const help = (cache: string) => endOf(spawnAtrium(['--help'], { ATRIUM_CODE_CACHE: cache }));
    const without = await help('off');
    expect(without).toMatchObject({ code: 0, stderr: '' });
    expect(await help(folder)).toEqual(without);
    const files = (await readdir(folder))
      .filter((name) => /^[\da-f]{64}$/.test(name))
      .map((name) => path.join(folder, name));
    expect(files.length).toBeGreaterThan(0);
    const good = await readFile(files[0] ?? '');
    for (const file of files) {
      const code = Buffer.from('whole, but of another V8');
      const digest = createHash('sha256').update(path.basename(file)).update(code).digest();
      await writeFile(file, Buffer.concat([digest, code]));
    }
    expect(await help(folder)).toEqual(without);
    expect((await readFile(files[0] ?? '')).length).toBeGreaterThan(good.length / 2);
    expect(await help(folder)).toEqual(without);
  });

  it('has the models and MCP inside, and reads configuration and skills', async () => {
    const apis = ['openai-compatible', 'openai', 'anthropic'];
    const model = await ModelServer.start();
    onTestFinished(() => model.stop());
    const dataDir = await newDataFolder();
    const cwd = await newFolder({ dataDir });
    const agents = apis.map((api) => [
      api,
      { type: 'model', api, baseURL: model.url, apiKeyEnv: 'KEY', models: ['m-1'] },
    ]);
    const mcpServers = { small: { command: process.execPath, args: [MCP_SERVER] } };
    const config = path.join(cwd, 'config', 'atrium');
    await mkdir(config, { recursive: true });
    const text = JSON.stringify({ agents: Object.fromEntries(agents), mcpServers, titles: false });
    await writeFile(path.join(config, 'config.json'), `// with a comment\n${text}`);
    const skill = path.join(cwd, '.claude', 'skills', 'greet');
    await mkdir(skill, { recursive: true });
    await writeFile(
      path.join(skill, 'SKILL.md'),
      '---\nname: greet\ndescription: >\n  how to\n  greet people\n---\nSay hello.\n',
    );
    const env = { ATRIUM_DATA_DIR: dataDir, XDG_CONFIG_HOME: path.join(cwd, 'config'), KEY: 'k', NO_COLOR: '1' };
    const serve = spawnAtrium(SERVE, env, { cwd });
    await serve.says(/READY/);
    const ask = async (...of: string[]) => endOf(spawnAtrium(['run', '--no-start', ...of, 'hi'], env, { cwd }));
    for (const api of apis) {
      model.answer({ text: [`hello from ${api}`] });
      const run = await ask('--agent', api);
      expect(run, serve.said.stderr).toMatchObject({ code: 0, stdout: expect.stringContaining(`hello from ${api}`) });
      expect(model.heard()).toContain('how to greet people');
    }
    // A turn does not wait for a server that takes long to start: a later one of the session has its tools.
    const offered = async () => {
      model.answer({ text: ['hello again'] });
      await ask('--session', 'last');
      return JSON.stringify(model.requests.at(-1)?.body);
    };
    await expect.poll(offered, { timeout: 45_000, interval: 500 }).toContain('small__echo');
  });
});

describe('the command in the repository', { timeout: 60_000 }, () => {
  const says = async (folder: string) =>
    (await execute(process.execPath, [path.join(folder, 'bin', 'atrium.js')], { env: surroundings() })).stdout;

  it('is the bundle while that is of the same build as the packages, and the packages otherwise', async () => {
    const folder = await newTempFolder();
    const bundle = path.join(folder, 'dist', 'bundle');
    await cp(BIN, path.join(folder, 'bin'), { recursive: true });
    await mkdir(bundle, { recursive: true });
    const build = path.join(folder, 'dist', '.tsbuildinfo');
    await writeFile(build, '');
    await writeFile(path.join(folder, 'package.json'), '{ "type": "module" }');
    await writeFile(path.join(folder, 'dist', 'main.js'), "import 'node:fs'; console.log('the packages');");
    expect(await says(folder)).toBe('the packages\n');
    await writeFile(path.join(bundle, 'atrium.cjs'), "console.log('the bundle');");
    expect(await says(folder)).toBe('the packages\n');
    const { mtimeMs } = await stat(build);
    await writeFile(path.join(bundle, 'builds.json'), JSON.stringify([{ file: '../.tsbuildinfo', mtimeMs }]));
    expect(await says(folder)).toBe('the bundle\n');
    await utimes(build, 1, 1);
    expect(await says(folder)).toBe('the packages\n');
    await rm(build);
    expect(await says(folder)).toBe('the packages\n');
  });
});
