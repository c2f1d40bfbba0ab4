/** Nothing that the host starts for others learns the host's own settings. */
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { childEnvironment } from '@atrium/core/util/processes.js';
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { environmentOf } from '../../../agents/src/claude/turn.js';
import { runtimeEnvironment } from '../../../agents/src/copilot/runtime.js';
import { type ModelAgentOptions, modelAgent } from '../../../agents/src/model/backend.js';
import { configuredCandidates } from '../../src/discovery/configured.js';
import { commandEnvironment, shellEnvironment } from '../../src/workspace/terminals/shells.js';
import { acpFixture } from '../support/acp-fixture.js';

beforeEach(() => {
  vi.stubEnv('ATRIUM_TOKEN', 'open-sesame');
  vi.stubEnv('atrium_model_key', 'open-sesame');
  vi.stubEnv('ORCHARD', 'plums');
});
afterEach(() => void vi.unstubAllEnvs());

const ALONE = { arePresent: false, canType: false };

const seen = (env: Readonly<Record<string, string | undefined>>) => [
  Object.values(env).includes('open-sesame'),
  env.ORCHARD,
];

describe('the environment of a child', () => {
  it('is that of the host, without what is the host’s alone, in whatever capitals', () => {
    expect(seen(process.env)).toEqual([true, 'plums']);
    expect(seen(childEnvironment())).toEqual([false, 'plums']);
  });

  it.each(['LANG', 'LC_CTYPE', 'LC_ALL'])('keeps the language that a person set with %s, also in terminals', (name) => {
    const host = { [name]: 'de_CH.UTF-8' };
    const environments = [childEnvironment(host), shellEnvironment(host), commandEnvironment(ALONE, host)];
    const languages = environments.map(({ LANG, LC_CTYPE, LC_ALL }) => ({ LANG, LC_CTYPE, LC_ALL }));
    const kept = { LANG: undefined, LC_CTYPE: undefined, LC_ALL: undefined, ...host };
    expect(languages).toEqual([kept, kept, kept]);
  });

  it('gives terminals a language when a service manager started the host without any', () => {
    expect([childEnvironment({}).LANG, shellEnvironment({}).LANG, commandEnvironment(ALONE, {}).LANG]).toEqual([
      undefined,
      expect.stringMatching(/UTF-8$/),
      expect.stringMatching(/UTF-8$/),
    ]);
  });

  it('leaves the key of a model to the host, where the configuration gives it such a name', async () => {
    const entry = { type: 'model', api: 'openai', apiKeyEnv: 'ATRIUM_HOUSE_KEY' } as const;
    vi.stubEnv('ATRIUM_HOUSE_KEY', 'sk-plum');
    const given: ModelAgentOptions[] = [];
    const model = (options: ModelAgentOptions) => {
      given.push(options);
      return modelAgent(options);
    };
    const machine = {
      env: process.env,
      factories: { model },
      which: async () => undefined,
      isInstalled: async () => false,
    };
    const [candidate] = configuredCandidates({ agents: { house: entry } }, machine);
    await candidate?.probe({});
    expect(given).toMatchObject([{ apiKey: 'sk-plum' }]);
    expect(Object.values(childEnvironment())).not.toContain('sk-plum');
  });

  it('is so for Claude and Copilot, with what they are given on purpose', () => {
    const settings = {
      provider: 'claude',
      displayName: 'Claude',
      models: [],
      tools: [],
      env: { ATRIUM_GIVEN: 'yes' },
    };
    expect(seen(environmentOf(settings))).toEqual([false, 'plums']);
    expect(environmentOf(settings).ATRIUM_GIVEN).toBe('yes');
    const copilot = { home: '/nowhere', env: { ATRIUM_GIVEN: 'yes' } };
    for (const options of [copilot, { ...copilot, providerConfig: { baseUrl: 'http://127.0.0.1:1' } }]) {
      expect(seen(runtimeEnvironment(process.env, options))).toEqual([false, 'plums']);
      expect(runtimeEnvironment(process.env, options).ATRIUM_GIVEN).toBe('yes');
    }
  });

  it.skipIf(process.platform === 'win32')('is so for agents behind a command', async () => {
    const folder = await mkdtemp(path.join(tmpdir(), 'atrium-env-'));
    onTestFinished(() => rm(folder, { recursive: true }));
    const file = path.join(folder, 'env.txt');
    await acpFixture([], {
      agent: { command: 'sh', args: ['-c', `env > "${file}.part" && mv "${file}.part" "${file}"`] },
    });
    const env = await vi.waitFor(() => readFile(file, 'utf8'), 10_000);
    expect([env.includes('ORCHARD=plums'), env.includes('open-sesame')]).toEqual([true, false]);
  });
});
