import { describe, expect, it } from 'vitest';
import { expandInShell } from '../../../src/plugins/formats/placeholders.js';
import { kinds, loadWith, NAMED, names, OP } from './plugin-folder.js';

const FILE = 'hooks/hooks.json';
const COMMAND = { type: 'command', command: 'run' };

const hooksWith = (content: unknown, options = {}) => loadWith({ [OP]: NAMED, [FILE]: content }, options);
const stopWith = async (action: object, options = {}) => {
  const plugin = await hooksWith({ hooks: { Stop: [action] } }, options);
  return plugin.hooks[0]?.action;
};

describe('hooks', () => {
  it('[CUS-036] [CUS-049] are grouped by matcher, or stand by themselves', async () => {
    const plugin = await hooksWith({
      hooks: {
        PreToolUse: [{ matcher: 'shell|write', hooks: [COMMAND, { command: 'second' }] }, { command: 'third' }],
        SessionStart: [{ hooks: [COMMAND] }],
      },
    });
    expect(plugin.load).toEqual({ kind: 'loaded' });
    expect(plugin.children).toMatchObject([
      { type: 'hook', name: 'PreToolUse 1', event: 'PreToolUse', matcher: 'shell|write' },
      { type: 'hook', name: 'PreToolUse 2', event: 'PreToolUse', matcher: 'shell|write' },
      { type: 'hook', name: 'PreToolUse 3', event: 'PreToolUse' },
      { type: 'hook', name: 'SessionStart 1', event: 'SessionStart' },
    ]);
    expect(plugin.hooks.map(({ action }) => action)).toMatchObject([
      { kind: 'command', command: 'run' },
      { command: 'second' },
      { command: 'third' },
      { command: 'run' },
    ]);
  });

  it('[CUS-049] may leave out the outer member', async () => {
    const plugin = await hooksWith({ version: 1, description: 'x', Stop: [{ hooks: [COMMAND] }] });
    expect(names(plugin)).toEqual(['hook Stop 1']);
    expect(kinds(plugin)).toEqual([]);
  });

  it('[CUS-024] in the manifest replace those in the file', async () => {
    const file = { [FILE]: { hooks: { Stop: [COMMAND] } } };
    const wrapped = await loadWith({ [OP]: { name: 'demo', hooks: { hooks: { SessionEnd: [COMMAND] } } }, ...file });
    expect(wrapped.children).toMatchObject([{ name: 'SessionEnd 1', uri: expect.stringMatching(/plugin\.json$/) }]);
    const bare = await loadWith({ [OP]: { name: 'demo', hooks: { SessionEnd: [COMMAND] } }, ...file });
    expect(names(bare)).toEqual(['hook SessionEnd 1']);
    const empty = await loadWith({ [OP]: { name: 'demo', hooks: {} }, ...file });
    expect(names(empty)).toEqual(['hook Stop 1']);
  });

  it('may be in another file or folder that the manifest names', async () => {
    const manifest = { name: 'demo', hooks: ['./config/my.json', './other'] };
    const stop = { hooks: { Stop: [COMMAND] } };
    const plugin = await loadWith({ [OP]: manifest, 'config/my.json': stop, 'other/hooks.json': stop });
    expect(plugin.hooks.map(({ uri }) => uri.split('/').slice(-2).join('/'))).toEqual([
      'config/my.json',
      'other/hooks.json',
    ]);
    expect(new Set(plugin.children.map(({ id }) => id)).size).toBe(2);
  });

  it('[CUS-050] can all be switched off', async () => {
    expect(await hooksWith({ disableAllHooks: true, hooks: { Stop: [COMMAND] } })).toMatchObject({ children: [] });
    expect(await hooksWith({ disableAllHooks: false, hooks: { Stop: [COMMAND] } })).toMatchObject({ children: [{}] });
  });

  it.each(['*', '', undefined, null])('[CUS-051] run each time with the matcher %j', async (matcher) => {
    const plugin = await hooksWith({ PreToolUse: [{ matcher, hooks: [COMMAND] }] });
    expect(plugin.load).toEqual({ kind: 'loaded' });
    expect(plugin.hooks[0]).not.toHaveProperty('matcher');
    expect(plugin.hooks[0]?.action.kind).toBe('command');
  });

  it.each(['(', 'x'.repeat(1_001), 7])(
    '[CUS-051] [CUS-098] never run with a matcher that is none (%#)',
    async (matcher) => {
      const plugin = await hooksWith({ PreToolUse: [{ matcher, hooks: [COMMAND] }] });
      expect(kinds(plugin)).toEqual(['hook-regex-invalid']);
      expect(plugin.hooks).toMatchObject([{ name: 'PreToolUse 1', action: { kind: 'unsupported' } }]);
    },
  );

  it('[CUS-052] [CUS-053] know events by all their names, and pass over others without harm', async () => {
    const known = ['PreToolUse', 'PostToolUse', 'PostToolUseFailure', 'SessionStart', 'SessionEnd', 'UserPromptSubmit'];
    const more = ['Stop', 'SubagentStart', 'SubagentStop', 'PreCompact', 'BeforeReadFile', 'AfterFileEdit'];
    const rest = ['BeforeShellExecution', 'AfterShellExecution', 'Notification', 'PermissionRequest', 'ErrorOccurred'];
    const all = [...known, ...more, ...rest];
    const plugin = await hooksWith(
      Object.fromEntries([...all, 'Unheard', 'toString'].map((event) => [event, [COMMAND]])),
    );
    expect(plugin.hooks.map(({ event }) => event)).toEqual(all);
    expect(kinds(plugin)).toEqual(['hook-event-unknown']);
    expect(plugin.load).toEqual({ kind: 'loaded' });

    const aliases = {
      sessionStart: 'SessionStart',
      sessionEnd: 'SessionEnd',
      userPromptSubmitted: 'UserPromptSubmit',
      preToolUse: 'PreToolUse',
      postToolUse: 'PostToolUse',
      agentStop: 'Stop',
      subagentStop: 'SubagentStop',
      errorOccurred: 'ErrorOccurred',
    };
    const copilot = await hooksWith(Object.fromEntries(Object.keys(aliases).map((event) => [event, [COMMAND]])));
    expect(copilot.hooks.map(({ event }) => event)).toEqual(Object.values(aliases));
  });

  it('counts the hooks of an event under all its names together', async () => {
    const plugin = await hooksWith({ Stop: [COMMAND], agentStop: [COMMAND] });
    expect(names(plugin)).toEqual(['hook Stop 1', 'hook Stop 2']);
  });

  it.each(['http', 'prompt', 'agent'])('[CUS-054] with an action of type %s are listed but not run', async (type) => {
    const plugin = await hooksWith({ Stop: [{ type, url: 'https://secret.example', prompt: 'secret' }] });
    expect(names(plugin)).toEqual(['hook Stop 1']);
    expect(plugin.hooks[0]?.action).toEqual({ kind: 'unsupported', reason: expect.stringContaining(type) });
    expect(plugin.load.kind).toBe('degraded');
    expect(kinds(plugin)).toEqual(['hook-action-unsupported']);
    expect(JSON.stringify([plugin.load, plugin.warnings])).not.toContain('secret');
  });

  it.each([
    ['linux', { shell: 'default', command: 'on-linux' }],
    ['darwin', { shell: 'default', command: 'on-mac' }],
    ['win32', { shell: 'default', command: 'on-windows' }],
    ['freebsd', { shell: 'default', command: 'on-linux' }],
  ])('[CUS-054] have a command for each system: %s', async (platform, action) => {
    const commands = { command: 'any', linux: 'on-linux', osx: 'on-mac', windows: 'on-windows' };
    expect(await stopWith(commands, { platform })).toMatchObject(action);
  });

  it('[CUS-054] have a command for each shell', async () => {
    const both = { bash: './a.sh', powershell: './a.ps1' };
    expect(await stopWith(both, { platform: 'linux' })).toMatchObject({ shell: 'bash', command: './a.sh' });
    expect(await stopWith(both, { platform: 'win32' })).toMatchObject({ shell: 'powershell', command: './a.ps1' });
    const plugin = await hooksWith({ Stop: [{ bash: './a.sh' }] }, { platform: 'win32' });
    expect(plugin.hooks).toMatchObject([{ action: { kind: 'unsupported' } }]);
    expect(kinds(plugin)).toEqual(['hook-action-unsupported']);
  });

  it('[CUS-054] have a folder, variables and a time limit in seconds', async () => {
    const env = { A: '${PLUGIN_ROOT}/a', B: 2, C: true, PLUGIN_ROOT: '/elsewhere' };
    const action = { command: 'x', cwd: '${PLUGIN_DATA}/w', env, timeout: 1.5 };
    expect(await stopWith(action)).toMatchObject({ cwd: '/data/demo/w', timeoutMs: 1_500 });
    expect(await stopWith(action)).toMatchObject({
      env: { A: '/plugins/demo/a', B: '2', PLUGIN_ROOT: '/plugins/demo' },
    });
    expect(await stopWith({ command: 'x', timeoutSec: 5 })).toMatchObject({ timeoutMs: 5_000 });
    expect(await stopWith({ command: 'x', timeout: 1e9 })).toMatchObject({ timeoutMs: 600_000 });
    expect(await stopWith({ command: 'x', timeout: -1 })).not.toHaveProperty('timeoutMs');
  });

  it('start in the working directory of the session unless told', async () => {
    expect(await stopWith({ command: 'x' })).not.toHaveProperty('cwd');
  });

  it('[CUS-061] quote a root with spaces, also inside quotes that are there already', async () => {
    const command = async (line: string) => {
      const action = await stopWith({ command: line }, { pluginRoot: "/my $plugins/it's" });
      return action?.kind === 'command' ? action.command : undefined;
    };
    expect(await command('${CLAUDE_PLUGIN_ROOT}/a.sh ${TOKEN}')).toBe("'/my $plugins/it'\\''s'/a.sh ${TOKEN}");
    expect(await command('"${PLUGIN_ROOT}/a.sh"')).toBe('"/my \\$plugins/it\'s/a.sh"');
    expect(await command("'${PLUGIN_ROOT}/a.sh'")).toBe("'/my $plugins/it'\\''s/a.sh'");
    expect(await command('echo \\" ${PLUGIN_DATA} ${PLUGIN_ROOT}')).toBe(
      "echo \\\" /data/demo '/my $plugins/it'\\''s'",
    );
  });

  it('[CUS-061] quote for Windows with double quotes', () => {
    const root = () => 'C:\\My Plugins\\x';
    expect(expandInShell('${PLUGIN_ROOT}\\a.cmd', root, true)).toBe('"C:\\My Plugins\\x"\\a.cmd');
    expect(expandInShell('"${PLUGIN_ROOT}\\a.cmd"', root, true)).toBe('"C:\\My Plugins\\x\\a.cmd"');
    expect(expandInShell('${PLUGIN_ROOT}\\a.cmd', () => 'C:\\x', true)).toBe('C:\\x\\a.cmd');
  });

  it('in a broken file are none, with a warning', async () => {
    expect(kinds(await hooksWith('{ "hooks": '))).toEqual(['manifest-field-invalid']);
    expect(await hooksWith('[]')).toMatchObject({ children: [] });
    expect(kinds(await hooksWith({ Stop: [5, { hooks: [null] }] }))).toEqual(Array(2).fill('hook-action-unsupported'));
  });
});
