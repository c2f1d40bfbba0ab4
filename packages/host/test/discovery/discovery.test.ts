import { existsSync, readFileSync } from 'node:fs';
import { chmod } from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Config } from '../../src/config/config-schema.js';
import { GUESS_TIMEOUT_MS, PROBE_SLACK_MS } from '../../src/discovery/candidate.js';
import { isInstalled } from '../../src/discovery/installed-agents.js';
import { ANTHROPIC_MODELS, OPENAI_MODELS } from '../../src/discovery/models.js';
import { tempFolder } from '../support/temp-folder.js';
import { closedPort, discover, listen, modelList } from './support.js';

const ids = (models: readonly { id: string }[]) => models.map(({ id }) => id);

describe('an empty machine', () => {
  it('has no agents, and every one that was looked for says what to do', async () => {
    const { found, discovered } = await discover();
    expect(found).toEqual([]);
    expect(
      discovered.map(({ provider, why }) => [provider, /is not set:|not on PATH: npm|npm install/.test(why)]),
    ).toEqual(
      [
        'model',
        'anthropic',
        'openai',
        'gemini',
        'opencode',
        'copilot-cli',
        'codex',
        'claude-acp',
        'copilot',
        'claude',
      ].map((provider) => [provider, true]),
    );
    expect(discovered.some(({ isNamed }) => isNamed)).toBe(false);
  });
});

describe('keys in the environment', () => {
  it('become agents with the models that are known, and nothing goes over the network', async () => {
    const { given, modelsOf, of } = await discover({ env: { ANTHROPIC_API_KEY: 'a-key', OPENAI_API_KEY: 'o-key' } });
    expect(given).toMatchObject([
      { provider: 'anthropic', kind: 'anthropic', apiKey: 'a-key', baseURL: undefined },
      { provider: 'openai', kind: 'openai', apiKey: 'o-key' },
    ]);
    expect(modelsOf('anthropic')).toEqual(ids(ANTHROPIC_MODELS));
    expect(modelsOf('openai')).toEqual(ids(OPENAI_MODELS));
    expect([of('anthropic').why, of('openai').why]).toEqual(['ANTHROPIC_API_KEY is set', 'OPENAI_API_KEY is set']);
  });

  it.each([
    ['@ai-sdk/anthropic', ANTHROPIC_MODELS],
    ['@ai-sdk/openai', OPENAI_MODELS],
  ])('are offered only models that %s knows', (name, models) => {
    const types = readFileSync(
      path.join(path.dirname(createRequire(import.meta.url).resolve(name)), 'index.d.ts'),
      'utf8',
    );
    for (const { id } of models) expect(types).toContain(`'${id}'`);
  });

  it('count as absent when they are empty', async () => {
    expect(
      (await discover({ env: { ANTHROPIC_API_KEY: '', OPENAI_API_KEY: '', ATRIUM_MODEL_URL: '' } })).found,
    ).toEqual([]);
  });

  it.each(['http://proxy.test', 'http://proxy.test/', 'http://proxy.test/v1'])(
    'take the address %s with them to Anthropic, with the version that it may lack',
    async (address) => {
      const { given } = await discover({ env: { ANTHROPIC_API_KEY: 'k', ANTHROPIC_BASE_URL: address } });
      expect(given).toMatchObject([{ kind: 'anthropic', baseURL: 'http://proxy.test/v1' }]);
    },
  );

  it('ask another server than OpenAI for its models', async () => {
    const asked: unknown[] = [];
    const port = await listen((request, response) => {
      asked.push([request.url, request.headers.authorization]);
      response.end(modelList('house'));
    });
    const baseURL = `http://127.0.0.1:${port}/v1`;
    const { given, modelsOf } = await discover({ env: { OPENAI_API_KEY: 'k', OPENAI_BASE_URL: `${baseURL}/` } });
    expect(given).toMatchObject([{ kind: 'openai-compatible', baseURL, apiKey: 'k' }]);
    expect(modelsOf('openai')).toEqual(['house']);
    expect(asked).toEqual([['/v1/models', 'Bearer k']]);
  });

  it('never stand in a reason, nor do passwords in addresses', async () => {
    const address = `http://me:secret@127.0.0.1:${await closedPort()}/v1?key=secret`;
    const env = {
      OPENAI_API_KEY: 'secret',
      OPENAI_BASE_URL: address,
      ATRIUM_MODEL_URL: address,
      ATRIUM_MODEL_KEY: 'secret',
    };
    const { discovered, of } = await discover({ env });
    expect(of('model')).toMatchObject({ found: false, isNamed: true });
    expect(discovered.map(({ why }) => why).join()).not.toContain('secret');
  });

  it('are not taken from an address: one that holds a name or a password is refused, with what to do', async () => {
    const address = 'http://me:hush@127.0.0.1:1/v1';
    const env = {
      ...{ ATRIUM_MODEL_URL: address, ATRIUM_MODEL: 'house' },
      ...{ ANTHROPIC_API_KEY: 'k', ANTHROPIC_BASE_URL: address, OPENAI_API_KEY: 'k', OPENAI_BASE_URL: address },
    };
    const { given, of } = await discover({ env });
    for (const provider of ['model', 'anthropic', 'openai']) {
      const why = expect.stringMatching(/it holds a name or a password: take them out, and put the key into/);
      expect(of(provider)).toMatchObject({ found: false, why });
    }
    expect(given).toEqual([]);
  });
});

describe.skipIf(process.platform === 'win32')('commands on PATH', () => {
  const program = '#!/bin/sh\ntouch "$(dirname "$0")/was-run"\n';

  async function binFolder(...commands: string[]): Promise<string> {
    const folder = await tempFolder(Object.fromEntries(commands.map((command) => [command, program])));
    for (const command of commands) await chmod(path.join(folder, command), 0o755);
    return folder;
  }

  it('are found with their full path and are not run', async () => {
    const folder = await binFolder('gemini', 'opencode', 'copilot', 'codex-acp', 'claude-agent-acp');
    const { given, found, of } = await discover({ env: { PATH: folder }, isInstalled: async () => true });
    expect(found.slice(0, 5)).toEqual(['gemini', 'opencode', 'copilot-cli', 'codex', 'claude-acp']);
    // All are looked for at once, and made as they are found.
    const made = given.filter(({ kind }) => kind === 'acp').map(({ command, args }) => [command, args]);
    expect(new Map(made as [string, string[]][])).toEqual(
      new Map([
        [path.join(folder, 'gemini'), ['--acp']],
        [path.join(folder, 'opencode'), ['acp']],
        [path.join(folder, 'copilot'), ['--acp']],
        [path.join(folder, 'codex-acp'), []],
        [path.join(folder, 'claude-agent-acp'), []],
      ]),
    );
    expect(of('gemini').why).toBe(`found ${path.join(folder, 'gemini')}`);
    expect(existsSync(path.join(folder, 'was-run'))).toBe(false);
  });

  it('are taken from the first folder that has a program of that name', async () => {
    const [first, second] = [await tempFolder({ gemini: 'text', 'opencode/x': '' }), await binFolder('gemini')];
    const { given, found } = await discover({
      env: { PATH: [first, second].join(path.delimiter) },
      isInstalled: async (name) => name === '@agentclientprotocol/sdk',
    });
    expect(found).toEqual(['gemini']);
    expect(given).toMatchObject([{ command: path.join(second, 'gemini') }]);
  });

  it('are not looked for in relative folders', async () => {
    const folder = await binFolder('gemini');
    const relative = path.relative(process.cwd(), folder);
    expect((await discover({ env: { PATH: `${relative}:.:` }, isInstalled: async () => true })).found).not.toContain(
      'gemini',
    );
  });

  it('need a package to speak with them, and say which', async () => {
    const { of } = await discover({ env: { PATH: await binFolder('gemini') } });
    expect(of('gemini')).toMatchObject({
      found: false,
      why: expect.stringContaining('npm install @agentclientprotocol/sdk'),
    });
  });
});

describe('agent packages', () => {
  it('are agents when they are installed', async () => {
    const { found, given } = await discover({ isInstalled: async () => true });
    expect(found).toEqual(['copilot', 'claude']);
    expect(given).toMatchObject([
      { kind: 'copilot', provider: 'copilot', displayName: 'GitHub Copilot' },
      { kind: 'claude', provider: 'claude', displayName: 'Claude Code' },
    ]);
  });

  it('are looked for without loading them', async () => {
    expect([await isInstalled('vitest'), await isInstalled('@atrium/no-such-package')]).toEqual([true, false]);
  });

  it('are not there for a host that cannot run them', async () => {
    const { of } = await discover({ isInstalled: async () => true, factories: {} });
    expect(of('claude')).toMatchObject({ found: false, why: expect.stringContaining('built without') });
  });
});

describe('the configuration', () => {
  it('puts its agents first, and they take the place of what would be found under their names', async () => {
    const { discovered, given } = await discover({
      env: { HOUSE_KEY: 'k', ANTHROPIC_API_KEY: 'mine', OPENAI_API_KEY: 'mine too' },
      config: {
        agents: {
          house: {
            ...({ type: 'model', api: 'openai-compatible', baseURL: 'http://house.test/v1' } as const),
            ...{ apiKeyEnv: 'HOUSE_KEY', headers: { 'x-team': 'blue' }, models: [{ id: 'm', contextWindow: 9 }] },
          },
          anthropic: { type: 'model', api: 'anthropic', baseURL: 'http://other.test/v1', displayName: 'Other' },
          openai: { type: 'model', api: 'openai' },
        },
      },
    });
    expect(discovered.slice(0, 3)).toMatchObject([
      { provider: 'house', source: 'config', isNamed: true, found: true, why: 'configured, at http://house.test/v1' },
      { provider: 'anthropic', source: 'config', displayName: 'Other' },
      { provider: 'openai', source: 'config' },
    ]);
    expect(discovered.filter(({ provider }) => provider === 'anthropic').length).toBe(1);
    expect(given).toMatchObject([
      { apiKey: 'k', headers: { 'x-team': 'blue' }, models: [{ id: 'm', name: 'm', maxContextWindow: 9 }] },
      // A key of the environment does not travel to another address unless the file says so.
      { baseURL: 'http://other.test/v1', apiKey: undefined },
      { kind: 'openai', baseURL: undefined, apiKey: 'mine too' },
    ]);
  });

  it('says what is missing for its agents', async () => {
    const { of } = await discover({
      config: {
        agents: {
          a: { type: 'model', api: 'openai', apiKeyEnv: 'NO_SUCH_KEY' },
          b: { type: 'acp', command: 'no-such-command' },
          c: { type: 'copilot' },
          d: { type: 'model', api: 'openai-compatible', baseURL: `http://127.0.0.1:${await closedPort()}/v1` },
          e: { displayName: 'Nothing' },
        },
      },
    });
    expect(of('a').why).toBe('configured, but NO_SUCH_KEY is not set: export it');
    expect(of('b').why).toBe('configured, but no-such-command is not on PATH: install it, or correct "command"');
    expect(of('c').why).toBe('its package is not installed: npm install @github/copilot-sdk');
    expect(of('d').why).toMatch(/nothing listens there .*: start it, or name its models/);
    expect(of('e')).toMatchObject({ isNamed: true, why: expect.stringContaining('without a "type"') });
  });

  it('runs a command with its arguments, environment and folder', async () => {
    const command = process.execPath;
    const entry = { type: 'acp', command, args: ['-v'], env: { A: '1' }, cwd: '/work', displayName: 'Mine' } as const;
    const { given } = await discover({ config: { agents: { mine: entry } }, isInstalled: async () => true });
    const { type, ...rest } = entry;
    expect(given).toContainEqual({ kind: type, provider: 'mine', ...rest });
  });

  it('switches agents off, and changes the names and models of those that are found', async () => {
    const env = { ANTHROPIC_API_KEY: 'k', OPENAI_API_KEY: 'k' };
    const agents = { anthropic: { enabled: false }, openai: { displayName: 'Work', models: ['mine'] } };
    const { found, of, modelsOf } = await discover({ env, config: { agents } });
    expect(found).toEqual(['openai']);
    expect(of('anthropic').why).toContain('switched off');
    expect([of('openai').displayName, of('openai').backend?.info.displayName, modelsOf('openai')]).toEqual([
      'Work',
      'Work',
      ['mine'],
    ]);
  });

  it.each<[NonNullable<Config['discovery']>, string[]]>([
    [{ enabled: false }, []],
    [{ environment: false }, ['local', 'copilot', 'claude']],
    [{ localServers: false }, ['openai', 'copilot', 'claude']],
    [{ commands: false }, ['openai', 'local']],
  ])('looks nowhere that %o forbids', async (discovery, expected) => {
    let asked = 0;
    const port = await listen((_, response) => {
      asked++;
      response.end(modelList('m'));
    });
    const { found } = await discover({
      env: { OPENAI_API_KEY: 'k' },
      localServers: [{ provider: 'local', displayName: 'Local', port, start: '' }],
      isInstalled: async () => true,
      config: { discovery },
    });
    expect(found).toEqual(expected);
    expect(asked).toBe(expected.includes('local') ? 1 : 0);
  });

  it('is not kept waiting by a search that hangs, or broken by one that fails', async () => {
    const hanging = await discover({ which: () => new Promise(() => {}) });
    expect(hanging.of('gemini').why).toBe(`looking for it took longer than ${GUESS_TIMEOUT_MS + PROBE_SLACK_MS} ms`);
    const failing = await discover({ which: () => Promise.reject(new Error('EIO')) });
    expect(failing.of('gemini')).toMatchObject({ found: false, why: 'EIO' });
  });
});
