/** `atrium agents` and `atrium serve` as people meet them: the real command with real files and servers. */
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { connect } from '@atrium/client';
import { userConfigFile } from '@atrium/host';
import { describe, expect, it, onTestFinished } from 'vitest';
import { isBuilt, newDataFolder } from './support/host.js';
import { atrium } from './support/run-cli.js';

async function modelServer(): Promise<string> {
  const body = JSON.stringify({ object: 'list', data: ['m-1', 'm-2'].map((id) => ({ id, object: 'model' })) });
  const server = createServer((_, response) => void response.end(body));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
}

/** A home whose configuration is this text; the environment that makes it count. */
async function homeWith(config: string): Promise<Record<string, string>> {
  const home = await mkdtemp(path.join(tmpdir(), 'atrium-home-'));
  onTestFinished(() => rm(home, { recursive: true }));
  const file = userConfigFile({ platform: process.platform, env: {}, home });
  await mkdir(path.dirname(file), { recursive: true });
  await writeFile(file, config);
  return { HOME: home, USERPROFILE: home };
}

describe.skipIf(!isBuilt)(
  'atrium agents (skipped unless the command has been built: npm run build)',
  { timeout: 60_000 },
  () => {
    it('shows what is there with its models, and a line for everything that is not', async () => {
      const { said, ended } = atrium(['agents'], {
        ...{ ATRIUM_DISCOVERY: '1', PATH: '', OPENAI_API_KEY: 'sk-secret' },
        ...(await homeWith('{ "discovery": { "localServers": false }, "defaultAgnt": "x" }')),
      });
      expect(await ended()).toBe(0);
      expect(said.stdout).toMatch(/^Agents\n {2}openai\* +OpenAI +OPENAI_API_KEY is set\n +gpt-/);
      expect(said.stdout).toMatch(/\n {2}offline +Built-in, no model +built in/);
      expect(said.stdout).toMatch(/\nNot found\n/);
      expect(said.stdout).toMatch(/\n {2}anthropic +ANTHROPIC_API_KEY is not set: export it/);
      expect(said.stdout).toMatch(/\n {2}gemini +gemini is not on PATH: npm install -g/);
      expect(said.stdout).toMatch(/\n {2}ollama +not looked for: "discovery.localServers" is false/);
      expect(said.stdout).toMatch(
        /config\.json:1:\d+: unknown key "defaultAgnt" is ignored; did you mean "defaultAgent"\?/,
      );
      expect(said.stdout).not.toContain('secret');
      expect(said.stderr).toBe('');
    });

    it('prints one JSON object and nothing else with --json', async () => {
      const env = { ATRIUM_MODEL_URL: await modelServer(), ATRIUM_MODEL_KEY: 'sk-secret' };
      const { said, ended } = atrium(['agents', '--json'], env);
      expect(await ended()).toBe(0);
      const { default: standard, agents, config } = JSON.parse(said.stdout);
      expect(standard).toBe('model');
      expect(agents).toContainEqual({
        ...{ provider: 'model', displayName: 'Model server', source: 'environment', found: true },
        why: `ATRIUM_MODEL_URL names ${env.ATRIUM_MODEL_URL}`,
        models: ['m-1', 'm-2'].map((id) => ({ id, name: id, provider: 'model' })),
      });
      expect(agents).toContainEqual(expect.objectContaining({ provider: 'claude', found: false, models: [] }));
      expect(config).toMatchObject({ files: [], warnings: [], waitingForTrust: null });
      expect(said.stdout + said.stderr).not.toContain('secret');
    });

    it('says where a broken file is broken, and ends with 2', async () => {
      const { said, ended } = atrium(
        ['agents', '--json'],
        await homeWith('{\n  "agents": { "x": { "type": "acp" } }\n}'),
      );
      expect(await ended()).toBe(2);
      expect(said.stderr).toMatch(/config\.json:2:20: agents\.x must have "command"/);
      expect(said.stdout).toBe('');
    });

    it('--help shows examples', async () => {
      const { said, ended } = atrium(['agents', '--help']);
      expect(await ended()).toBe(0);
      expect(said.stdout).toContain('$ atrium agents --json');
    });
  },
);

describe.skipIf(!isBuilt)(
  'the agents of atrium serve (skipped unless the command has been built)',
  { timeout: 60_000 },
  () => {
    it('stand in root state with their models, in the order of the configuration', async () => {
      const dataDir = await newDataFolder();
      const baseURL = await modelServer();
      const local = { type: 'model', api: 'openai-compatible', baseURL, displayName: 'Local' };
      const env = await homeWith(JSON.stringify({ agents: { local } }));
      const { says, said } = atrium(['serve', '--port', '0', '--data-dir', dataDir], env);
      const [, port] = await says(/localhost:(\d+)\n/);
      const token = (await readFile(path.join(dataDir, 'connection-token'), 'utf8')).trim();
      const client = await connect({ url: `ws://127.0.0.1:${port}`, token });
      onTestFinished(() => client.close());
      const { agents } = (await client.subscribe('ahp-root://')).state;
      expect(agents.map(({ provider, models }) => [provider, models.map(({ id }) => id)])).toEqual([
        ['local', ['m-1', 'm-2']],
        ['offline', []],
      ]);
      expect(said.stderr.match(/agent found/g)?.length).toBe(1);
      expect(said.stderr).not.toContain('agent not found');
    });

    it('are what "agents" and "doctor" tell, whatever the shell around them says', async () => {
      const dataDir = await newDataFolder();
      const url = await modelServer();
      const host = atrium(['serve', '--port', '0', '--data-dir', dataDir], { ATRIUM_MODEL_URL: url });
      await host.says(/localhost:(\d+)\n/);

      const agents = atrium(['agents', '--data-dir', dataDir]);
      expect(await agents.ended()).toBe(0);
      expect(agents.said.stdout).toMatch(/^Agents\nof the host ws:\/\/\S+ \(process \d+, data folder /);
      expect(agents.said.stdout).toContain(`data folder ${dataDir})`);
      expect(agents.said.stdout).toMatch(
        /\n {2}model\* +Model server +found by the host when it started\n +m-1, m-2\n/,
      );

      const asked = atrium(['agents', '--json', '--data-dir', dataDir]);
      expect(await asked.ended()).toBe(0);
      expect(JSON.parse(asked.said.stdout)).toMatchObject({ default: 'model', host: { pid: process.pid, dataDir } });

      const doctor = atrium(['doctor', '--data-dir', dataDir]);
      await doctor.ended();
      expect(doctor.said.stdout).toMatch(/agents +model\* \(the host ws:\/\/\S+, data folder /);
    });

    it('lack what only this shell would find, and that is said', async () => {
      const dataDir = await newDataFolder();
      const host = atrium(['serve', '--port', '0', '--data-dir', dataDir]);
      await host.says(/localhost:(\d+)\n/);
      const env = { ATRIUM_MODEL_URL: await modelServer() };
      const agents = atrium(['agents', '--data-dir', dataDir], env);
      expect(await agents.ended()).toBe(0);
      expect(agents.said.stdout).toMatch(/\n {2}offline\* /);
      expect(agents.said.stdout).toMatch(
        /\n {2}model +ATRIUM_MODEL_URL names \S+, but the host runs without it: atrium/,
      );
      const doctor = atrium(['doctor', '--data-dir', dataDir], env);
      await doctor.ended();
      expect(doctor.said.stdout).toMatch(/agents +no agent with a model was found \(the host ws:/);
    });

    it('refuse a model that they do not have, and name those they have', async () => {
      const dataDir = await newDataFolder();
      const host = atrium(['serve', '--port', '0', '--data-dir', dataDir], {
        ATRIUM_MODEL_URL: await modelServer(),
      });
      await host.says(/localhost:(\d+)\n/);
      const run = atrium(['run', '--data-dir', dataDir, '--model', 'm-3', 'hello']);
      expect(await run.ended()).not.toBe(0);
      expect(run.said.stderr).toMatch(/the agent model has no model "m-3"; did you mean "m-1"\. It has: m-1, m-2/);
      const any = atrium(['run', '--data-dir', dataDir, '--agent', 'offline', '--model', 'any', 'hello']);
      expect(await any.ended()).toBe(0);
      expect(any.said.stderr).toContain('The agent offline does not say which models it has; "any" is taken as it is.');
    });

    it('do not come from a file that is broken: the host does not start, and makes no data folder', async () => {
      const dataDir = await newDataFolder();
      const { said, ended } = atrium(['serve', '--port', '0', '--data-dir', dataDir], await homeWith('{ "agents": '));
      expect(await ended()).toBe(2);
      expect(said.stderr).toMatch(/config\.json:1:13: this is not JSON/);
      await expect(readFile(path.join(dataDir, 'atrium.db'))).rejects.toThrow('ENOENT');
    });
  },
);
