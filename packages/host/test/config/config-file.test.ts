import { execFileSync } from 'node:child_process';
import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { CONFIG_MAX_BYTES, ConfigError, FINDINGS_MAX, readConfigFile } from '../../src/config/config-file.js';
import { tempFolder } from '../support/temp-folder.js';

/** The file with this text, and what comes of reading it. */
async function read(text: string) {
  const folder = await tempFolder({ 'atrium.json': text });
  const file = path.join(folder, 'atrium.json');
  const read = await readConfigFile(file);
  return { folder, config: read?.config, warnings: read?.warnings.map((line) => line.replace(`${file}:`, '')) };
}

async function problemsOf(text: string): Promise<string[]> {
  const error = await read(text).catch((error: unknown) => error);
  if (!(error instanceof ConfigError)) throw new Error('the file was taken as it is');
  return error.message.split('\n').map((line) => line.replace(/^.*atrium\.json:/, ''));
}

const agent = (entry: object) => JSON.stringify({ agents: { mine: entry } });

describe('a configuration file', () => {
  it('may have comments, trailing commas and a byte order mark', async () => {
    const { config, warnings } = await read('\uFEFF{\n  // the one I use\n  "defaultAgent": "ollama", /* really */\n}');
    expect(config).toEqual({ defaultAgent: 'ollama' });
    expect(warnings).toEqual([]);
  });

  it('is undefined when there is none', async () => {
    expect(await readConfigFile(path.join(await tempFolder(), 'none', 'atrium.json'))).toBeUndefined();
  });

  it('keeps everything that the schema knows', async () => {
    const config = {
      $schema: './atrium.schema.json',
      agents: {
        house: {
          type: 'model',
          api: 'openai-compatible',
          baseURL: 'http://127.0.0.1:9/v1',
          apiKeyEnv: 'HOUSE_KEY',
          models: ['small', { id: 'large', name: 'Large', contextWindow: 1000 }],
          headers: { 'x-team': 'blue' },
        },
        copilot: { type: 'copilot', env: { A: 'b' } },
        claude: { type: 'claude', models: ['m'] },
        ollama: { enabled: false },
      },
      defaultAgent: 'house',
      discovery: { enabled: true, localServers: false, commands: true, environment: false },
      mcpServers: { files: { command: 'x', nested: [{ any: null }] } },
      providers: { ci: { command: 'watch-ci', args: ['--fast'] } },
    };
    expect(await read(JSON.stringify(config))).toMatchObject({ config, warnings: [] });
  });

  it('warns about unknown keys with their line and the key that was meant, and leaves them out', async () => {
    const { config, warnings } = await read(
      '{\n  "defaultAgnet": "a",\n  "discovery": {\n    "zzz": 1, "comands": false }\n}',
    );
    expect(config).toEqual({ discovery: {} });
    expect(warnings).toEqual([
      '2:3: unknown key "defaultAgnet" is ignored; did you mean "defaultAgent"?',
      '4:5: unknown key "zzz" in discovery is ignored',
      '4:15: unknown key "comands" in discovery is ignored; did you mean "commands"?',
    ]);
  });

  it('counts relative paths from its own folder, and leaves names of commands alone', async () => {
    const agents = { a: { type: 'acp', command: './bin/a', cwd: 'work' }, b: { type: 'acp', command: 'b' } };
    const { folder, config } = await read(JSON.stringify({ agents, plugins: ['plugins/x', '/opt/y'] }));
    expect(config?.agents).toEqual({
      a: { type: 'acp', command: path.join(folder, 'bin', 'a'), cwd: path.join(folder, 'work') },
      b: { type: 'acp', command: 'b' },
    });
    expect(config?.plugins).toEqual([path.join(folder, 'plugins', 'x'), path.resolve('/opt/y')]);
  });

  it('takes names such as __proto__ as names', async () => {
    const { config } = await read('{ "mcpServers": { "__proto__": { "command": "x" } } }');
    expect(Object.entries(config?.mcpServers ?? {})).toEqual([['__proto__', { command: 'x' }]]);
  });
});

describe('a configuration file that cannot be used', () => {
  it.each([
    ['{\n  "agents": {},\n  "defaultAgent" "x"\n}', '3:18: this is not JSON: colon expected'],
    ['{ "agents": {} ', '1:16: this is not JSON: close brace expected'],
    ['', '1:1: this is not JSON: value expected'],
    ['[]', '1:1: the file must be an object, but is a list'],
    ['{ "defaultAgent": 3 }', '1:19: defaultAgent must be a text, but is 3'],
    ['{ "discovery": { "enabled": "no" } }', '1:29: discovery.enabled must be true or false'],
    ['{ "agents": { "a b": {} } }', '1:15: agents: "a b" must be a letter, then at most 63'],
    [
      agent({ type: 'modle', api: 'openai' }),
      'agents.mine.type must be "model" or "acp" or "copilot" or "claude"; did you mean "model"?',
    ],
    [agent({ type: 'model', api: 'opanai' }), 'did you mean "openai"?'],
    [agent({ type: 'acp' }), 'agents.mine must have "command" (a command)'],
    [agent({ type: 'acp', command: ' ' }), 'agents.mine.command must be a command'],
    [
      agent({ type: 'model', api: 'openai-compatible' }),
      'agents.mine must have "baseURL", such as http://localhost:11434/v1',
    ],
    [
      agent({ type: 'model', api: 'openai', baseURL: 'localhost' }),
      'must be an address that begins with http:// or https://',
    ],
    [
      agent({ type: 'model', api: 'openai', baseURL: 'https://me:hush@host.test/v1' }),
      'https://, without a name and a password',
    ],
    [
      agent({ models: [{ id: 'm', contextWindow: 0 }] }),
      'agents.mine.models[0].contextWindow must be a whole number of at least 1, but is 0',
    ],
    ['{ "agents": { "offline": { "type": "claude" } } }', '1:26: agents.offline: this is the id of a built-in agent'],
  ])('%s: %s', async (text, problem) => {
    expect((await problemsOf(text)).join('\n')).toContain(problem);
  });

  it('tells of all its mistakes at once, in their order', async () => {
    expect(await problemsOf('{\n "plugins": 1,\n "defaultAgent": 2\n}')).toEqual([
      '2:13: plugins must be a list, but is 1',
      '3:18: defaultAgent must be a text, but is 2',
    ]);
  });

  it.each([
    [{ type: 'model', api: 'openai', apiKey: 'sk-secret' }, 'name that in "apiKeyEnv"'],
    [{ type: 'model', api: 'openai', apiKeyEnv: 'sk-secret' }, 'never a key itself'],
    [
      { type: 'model', api: 'openai', headers: { Authorization: 'Bearer sk-secret' } },
      'name its variable in "apiKeyEnv"',
    ],
  ])('refuses a key in %o, and does not repeat it', async (entry, advice) => {
    const problems = await problemsOf(agent(entry));
    expect(problems).toEqual([expect.stringContaining(advice)]);
    expect(problems.join()).not.toContain('secret');
  });

  it('may be too large, or nested too deep for the parser', async () => {
    const [comment, deep] = [`// ${'x'.repeat(CONFIG_MAX_BYTES)}\n{}`, '['.repeat(CONFIG_MAX_BYTES - 10)];
    expect(await problemsOf(comment)).toEqual([expect.stringContaining('is larger than')]);
    expect(await problemsOf(deep)).toEqual([expect.stringMatching(/nested too deep|not JSON/)]);
  });

  it('may be nested too deep in what is only passed on', async () => {
    const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;
    expect(await problemsOf(`{ "mcpServers": { "a": { "b": ${deep} } } }`)).toEqual(['1:1: is nested too deep']);
  });

  it('may be full of mistakes, of which the first are told, soon', { timeout: 20_000 }, async () => {
    const keys = Array.from({ length: 20_000 }, (_, index) => `"k${index}":1`).join();
    expect((await read(`{${keys}}`)).warnings?.length).toBe(FINDINGS_MAX);
  });

  it('may be a folder', async () => {
    const file = path.join(await tempFolder(), 'atrium.json');
    await mkdir(file);
    await expect(readConfigFile(file)).rejects.toThrow(/is not a file|EISDIR/);
  });

  it.skipIf(process.platform === 'win32')('may be a pipe, which nobody waits for', async () => {
    const file = path.join(await tempFolder(), 'atrium.json');
    execFileSync('mkfifo', [file]);
    await expect(readConfigFile(file)).rejects.toThrow('is not a file');
  });
});
