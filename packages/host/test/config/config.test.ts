import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { userConfigFile } from '../../src/config/config-file.js';
import { loadConfig } from '../../src/load-config.js';
import { agentProgram } from '../../src/plugins/trust/programs.js';
import { tempFolder } from '../support/temp-folder.js';

interface LoadFacts {
  readonly user?: unknown;
  readonly project?: unknown;
  readonly trusted?: boolean;
  /** What the folder may start; without this, everything. */
  readonly allowed?: readonly string[];
}

/** Loads a user's file and a project's, in a folder that is trusted or not. */
async function load({ user, project, trusted = true, allowed }: LoadFacts) {
  const text = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value));
  const home = await tempFolder(user === undefined ? {} : { 'config.json': text(user) });
  const folder = await tempFolder(project === undefined ? {} : { 'atrium.json': text(project) });
  const asked: string[] = [];
  const isTrusted = async (asking: string) => {
    asked.push(asking);
    return trusted;
  };
  const trust = { isTrusted, allows: async (_: string, program: string) => allowed?.includes(program) ?? true };
  const loaded = await loadConfig({ userFile: path.join(home, 'config.json'), projectFolder: folder, trust });
  return { ...loaded, asked, folder, home };
}

describe('configuration', () => {
  it('is empty without files, and nobody is asked for trust', async () => {
    const { config, files, waiting, asked } = await load({});
    expect(config.agents).toEqual({});
    expect({ files, waiting, asked }).toEqual({ files: [], waiting: undefined, asked: [] });
  });

  it('[REL-055] counts with the agents that somebody was shown, and not with others in their place', async () => {
    const agents = { mine: { type: 'acp', command: 'node', args: ['mine.js'], env: { A: '1' } } } as const;
    const { digest } = agentProgram('mine', agents.mine, '/anywhere');
    expect((await load({ project: { agents }, allowed: [digest] })).config.agents).toEqual(agents);
    const others = [
      { ...agents, other: agents.mine },
      { mine: { ...agents.mine, args: ['evil.js'] } },
      { mine: { ...agents.mine, env: { A: '2' } } },
    ];
    for (const changed of others) {
      const { config, waiting } = await load({ project: { agents: changed }, allowed: [digest] });
      expect(config.agents).toEqual({});
      expect(waiting?.entries).toEqual(Object.keys(changed).map((id) => `agents.${id}`));
    }
  });

  it('lets the project win over the user, key by key', async () => {
    const { config, files } = await load({
      user: {
        defaultAgent: 'a',
        agents: { a: { type: 'claude' }, b: { type: 'acp', command: 'b' } },
        discovery: { commands: false, localServers: false },
        mcpServers: { one: { command: '1' }, two: { command: '2' } },
        plugins: ['/p'],
      },
      project: {
        defaultAgent: 'b',
        agents: { b: { displayName: 'Bee' }, c: { type: 'copilot' } },
        discovery: { commands: true },
        mcpServers: { two: { command: 'two' } },
        plugins: ['/p', '/q'],
      },
    });
    expect(config).toEqual({
      defaultAgent: 'b',
      agents: { a: { type: 'claude' }, b: { type: 'acp', command: 'b', displayName: 'Bee' }, c: { type: 'copilot' } },
      discovery: { commands: true, localServers: false },
      mcpServers: { one: { command: '1' }, two: { command: 'two' } },
      providers: {},
      plugins: [path.resolve('/p'), path.resolve('/q')],
    });
    expect(files.map((file) => path.basename(file))).toEqual(['config.json', 'atrium.json']);
  });

  it("does not mix two agents of one name: the user's key stays with the user's address", async () => {
    const { config } = await load({
      user: { agents: { a: { type: 'model', api: 'openai', apiKeyEnv: 'MY_KEY' } } },
      project: { agents: { a: { type: 'model', api: 'openai', baseURL: 'https://elsewhere.test/v1' } } },
    });
    expect(config.agents?.a).toEqual({ type: 'model', api: 'openai', baseURL: 'https://elsewhere.test/v1' });
  });

  it('leaves the notice of newer versions to the user', async () => {
    const { config, warnings, folder } = await load({ user: { updateNotice: false }, project: { updateNotice: true } });
    expect(config.updateNotice).toBe(false);
    expect(warnings).toEqual([
      `${path.join(folder, 'atrium.json')}: "updateNotice" is ignored: it counts in your own file only`,
    ]);
  });

  it('names the file of every warning', async () => {
    const { warnings, home, folder } = await load({ user: { x: 1 }, project: { y: 1 } });
    expect(warnings).toEqual([
      expect.stringContaining(path.join(home, 'config.json:1:2')),
      expect.stringContaining(path.join(folder, 'atrium.json:1:2')),
    ]);
  });

  it.each(['user', 'project'])('is refused when the file of the %s is broken', async (whose) => {
    await expect(load({ [whose]: '{' })).rejects.toThrow('json:1:2: this is not JSON');
  });
});

describe('the file of a folder that is not trusted', () => {
  it('is not used at all; what it wants is listed', async () => {
    const { config, waiting, files, asked, folder } = await load({
      trusted: false,
      user: { defaultAgent: 'mine' },
      project: {
        defaultAgent: 'evil',
        agents: { evil: { type: 'acp', command: 'evil' }, ollama: { enabled: false } },
        mcpServers: { spy: { command: 'spy' } },
        providers: { p: { command: 'p' } },
        plugins: ['x'],
        discovery: { enabled: false },
      },
    });
    expect(config).toMatchObject({
      defaultAgent: 'mine',
      agents: {},
      mcpServers: {},
      providers: {},
      plugins: [],
      discovery: {},
    });
    expect(waiting).toEqual({
      file: path.join(folder, 'atrium.json'),
      folder,
      entries: [
        'defaultAgent',
        'agents.evil',
        'agents.ollama',
        'mcpServers.spy',
        'providers.p',
        'plugins',
        'discovery',
      ],
    });
    expect(files.length).toBe(1);
    expect(asked).toEqual([folder]);
  });

  it('cannot keep the host from starting, and its warnings are not shown', async () => {
    expect((await load({ trusted: false, project: '{{{' })).waiting?.entries).toEqual([]);
    expect((await load({ trusted: false, project: { nonsense: 1 } })).warnings).toEqual([]);
  });
});

describe("the usual place of the user's file", () => {
  it.each<[NodeJS.Platform, string, Record<string, string>, string]>([
    ['linux', '/home/me', {}, '/home/me/.config/atrium/config.json'],
    ['linux', '/home/me', { XDG_CONFIG_HOME: '/etc/me' }, '/etc/me/atrium/config.json'],
    ['linux', '/home/me', { XDG_CONFIG_HOME: 'relative' }, '/home/me/.config/atrium/config.json'],
    ['darwin', '/Users/me', {}, '/Users/me/Library/Application Support/atrium/config.json'],
    ['win32', 'C:\\Users\\me', {}, 'C:\\Users\\me\\AppData\\Roaming\\atrium\\config.json'],
    ['win32', 'C:\\Users\\me', { APPDATA: 'D:\\Roaming' }, 'D:\\Roaming\\atrium\\config.json'],
  ])('%s, %s, %o: %s', (platform, home, env, expected) => {
    expect(userConfigFile({ platform, home, env })).toBe(expected);
  });

  it.each([
    [{ automationRunsAtOnce: 2 }, { automationRunsAtOnce: 8 }, 2],
    [{ automationRunsAtOnce: 8 }, { automationRunsAtOnce: 2 }, 2],
    [{}, { automationRunsAtOnce: 8 }, 8],
    [{ automationRunsAtOnce: 1 }, {}, 1],
    [{}, {}, undefined],
  ])('[AUT-044] takes the lower number of runs at once of %o and %o', async (user, project, expected) => {
    expect((await load({ user, project })).config.automationRunsAtOnce).toBe(expected);
  });

  it('[DAY-041] [DAY-042] takes the lower budget of two files, and the prices of the user', async () => {
    const price = { input: 1, output: 2 };
    const user = { budgets: { day: { money: 5 }, session: { tokens: 10 } }, prices: { a: price } };
    const project = {
      budgets: { day: { money: 9, tokens: 100 }, session: { tokens: 4 } },
      prices: { a: { input: 0, output: 0 }, b: price },
    };
    const { config } = await load({ user, project });
    expect(config.budgets).toEqual({ day: { money: 5, tokens: 100 }, session: { tokens: 4 } });
    expect(config.prices).toEqual({ a: price, b: price });
    await expect(load({ user: { budgets: { day: { money: -1 } } } })).rejects.toThrow('a number of at least 0');
  });
});
