/** Rules and modes in a whole host: real tools, real files, a puppet for the agent. */
import { mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import type { AgentTurn, ToolOutcome } from '@atrium/core/contracts/agent.js';
import {
  ADD_PERMISSION_METHOD,
  type ChatState,
  callPermission,
  decisionWords,
  PERMISSIONS_METHOD,
  type PermissionList,
  REMOVE_PERMISSION_METHOD,
  TEST_PERMISSION_METHOD,
  type ToolCallPendingConfirmationState,
  type ToolCallState,
} from '@atrium/protocol/ahp-1';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { projectFolderOf } from '../../src/permissions/project-folder.js';
import { TrustedFolders } from '../../src/plugins/trust/folder-trust.js';
import { ruleProgram } from '../../src/plugins/trust/programs.js';
import { builtinTools } from '../../src/workspace/tools/builtin.js';
import { gitIn } from '../support/changes-fixture.js';
import { type ChatFixture, type ChatFixtureOptions, openChats } from '../support/chat-fixture.js';
import { userMessage } from '../support/native-client.js';
import { tempFolder } from '../support/temp-folder.js';
import { extension, gate } from '../tool-calls/support.js';

/** Makes a repository, and a worktree of it. */
function worktree(main: string, folder: string, atriumFile?: unknown): void {
  mkdirSync(main);
  gitIn(main, 'init', '-q');
  if (atriumFile !== undefined) write(path.join(main, 'atrium.json'), atriumFile);
  gitIn(main, 'add', '.');
  const author = ['-c', 'user.name=Test', '-c', 'user.email=test@example.invalid'];
  gitIn(main, ...author, 'commit', '-q', '--allow-empty', '-m', 'first');
  gitIn(main, 'worktree', 'add', '-q', '-b', 'side', folder);
}

interface World extends ChatFixture {
  readonly folder: string;
  readonly personFile: string;
  readonly trust: TrustedFolders;
  call(name: string, input: unknown): Promise<ToolOutcome>;
  /** The newest call, once it has this status. */
  seen(status: ToolCallState['status']): Promise<ToolCallState>;
  answer(more: object): Promise<void>;
  mode(mode: string): Promise<void>;
  /** Ends the running turn, changes the mode, begins another turn, and gives what is noted in it. */
  nextNotes(mode?: string): Promise<readonly unknown[]>;
  ask(method: string, params?: object): Promise<unknown>;
}

async function world(
  options: Omit<ChatFixtureOptions, 'session'> & { before?: (folder: string, personFile: string) => void } = {},
): Promise<World> {
  const { before, ...more } = options;
  const base = await tempFolder();
  const folder = path.join(base, 'project');
  const personFile = path.join(base, 'home', 'config.json');
  mkdirSync(folder);
  mkdirSync(path.join(base, 'data'));
  mkdirSync(path.dirname(personFile));
  before?.(folder, personFile);
  const trust = new TrustedFolders(path.join(base, 'trusted.json'));
  const session = { provider: 'puppet', workingDirectories: [pathToFileURL(folder).href] };
  const fixture = await openChats({
    tools: builtinTools(),
    personFile,
    trust,
    dataFolder: path.join(base, 'data'),
    terminals: false,
    session,
    ...more,
  });
  const { client, chat, uri, agent } = fixture;
  const begin = async () => {
    client.dispatch(chat, { type: 'chat/turnStarted', turnId: 't1', message: userMessage('go') } as never);
    await expect.poll(() => agent.turns.length, { timeout: 10_000 }).toBe(1);
  };
  await begin();
  const turn = agent.turns[0]?.turn as AgentTurn;
  const calls = async () => {
    const { activeTurn } = await client.state<ChatState>(chat);
    return (activeTurn?.responseParts ?? []).flatMap((part) => (part.kind === 'toolCall' ? [part.toolCall] : []));
  };
  let count = 0;
  const setMode = async (mode: string) => {
    client.dispatch(uri, { type: 'session/configChanged', config: { mode } } as never);
    await expect
      .poll(async () => (await client.state<{ config: { values: object } }>(uri)).config.values)
      .toMatchObject({ mode });
  };
  return {
    ...{ ...fixture, folder, personFile, trust },
    call: (name, input) => turn.callTool({ id: `c${++count}`, name, input }),
    seen: async (status) => {
      await expect.poll(async () => (await calls()).at(-1)?.status, { timeout: 10_000 }).toBe(status);
      return (await calls()).at(-1) as ToolCallState;
    },
    answer: async (action) => {
      const { toolCallId } = (await calls()).at(-1) as ToolCallState;
      client.dispatch(chat, {
        type: 'chat/toolCallConfirmed',
        turnId: 't1',
        toolCallId,
        approved: true,
        confirmed: 'user-action',
        ...action,
      } as never);
    },
    mode: setMode,
    nextNotes: async (next) => {
      const count = agent.turns.length;
      agent.turns.at(-1)?.finish();
      await expect.poll(async () => (await client.state<ChatState>(chat)).activeTurn).toBeUndefined();
      if (next !== undefined) await setMode(next);
      const turnId = `t${count + 1}`;
      client.dispatch(chat, { type: 'chat/turnStarted', turnId, message: userMessage('go on') } as never);
      await expect.poll(() => agent.turns.length, { timeout: 10_000 }).toBe(count + 1);
      const { activeTurn } = await client.state<ChatState>(chat);
      return (activeTurn?.responseParts ?? []).flatMap((part) =>
        part.kind === 'systemNotification' ? [part.content] : [],
      );
    },
    ask: (method, params = {}) => client.request(method as never, { channel: uri, ...params } as never),
  };
}

const rulesOf = async ({ ask }: World) => ((await ask(PERMISSIONS_METHOD)) as PermissionList).rules;
const write = (file: string, value: unknown) =>
  writeFileSync(file, typeof value === 'string' ? value : JSON.stringify(value));

describe('[DAY-001] [DAY-005] rules decide about calls', () => {
  it('allows without a question, denies without one, and each call says by which rule', async () => {
    const host = await world({
      before: (_folder, person) =>
        write(person, {
          permissions: { allow: ['shell(echo *)'], deny: ['shell(rm *)'], ask: ['read_file(secret.txt)'] },
        }),
    });
    expect(await host.call('shell', { command: 'echo hello' })).toMatchObject({ success: true });
    expect(callPermission(await host.seen('completed'))).toEqual({
      effect: 'allow',
      mode: 'ask',
      rule: 'shell(echo *)',
      scope: 'person',
    });
    expect(await host.call('shell', { command: 'echo hello; rm -rf x' })).toMatchObject({
      kind: 'denied',
      reason: expect.stringContaining('shell(rm *)'),
    });
    expect(callPermission(await host.seen('cancelled'))).toMatchObject({
      effect: 'deny',
      rule: 'shell(rm *)',
      scope: 'person',
    });
    write(path.join(host.folder, 'secret.txt'), 'x');
    const read = host.call('read_file', { path: 'secret.txt' });
    expect(callPermission(await host.seen('pending-confirmation'))).toMatchObject({
      effect: 'ask',
      rule: 'read_file(secret.txt)',
    });
    await host.answer({});
    expect(await read).toMatchObject({ success: true });
    const unclear = host.call('shell', { command: 'f() { echo a; }; f' });
    expect(callPermission(await host.seen('pending-confirmation'))).toMatchObject({
      effect: 'ask',
      rule: 'shell(rm *)',
      why: expect.any(String),
    });
    await host.answer({ approved: false, reason: 'denied' });
    await unclear;
  });

  it('writes the rule that it shows, to the session, the project or the person, and asks no more', async () => {
    const host = await world({ before: (_folder, person) => write(person, '{\n  // mine\n  "titles": false,\n}\n') });
    const asked = host.call('shell', { command: 'echo one; true' });
    const { options = [], ...call } = (await host.seen('pending-confirmation')) as ToolCallPendingConfirmationState;
    expect(callPermission(call)?.proposes).toEqual(['shell(echo *)', 'shell(true)']);
    expect(options.map(({ id }) => id)).toEqual([
      'approve',
      'allow-session',
      'always-session',
      'always-project',
      'always-person',
      'deny',
    ]);
    expect(options[4]?.label).toContain('shell(echo *), shell(true)');
    await host.answer({ selectedOptionId: 'always-person' });
    expect(await asked).toMatchObject({ success: true });
    expect(readFileSync(host.personFile, 'utf8')).toBe(
      '{\n  // mine\n  "titles": false,\n  "permissions": {\n    "allow": [\n      "shell(echo *)",\n      "shell(true)"\n    ]\n  },\n}\n',
    );
    expect(await host.call('shell', { command: 'true && echo two' })).toMatchObject({ success: true });
    for (const [scope, command] of [
      ['session', 'pwd'],
      ['project', 'date'],
    ] as const) {
      const more = host.call('shell', { command });
      await host.seen('pending-confirmation');
      await host.answer({ selectedOptionId: `always-${scope}` });
      await more;
      expect(await host.call('shell', { command })).toMatchObject({ success: true });
      expect(callPermission(await host.seen('completed'))).toMatchObject({ scope, rule: `shell(${command})` });
    }
    expect(JSON.parse(readFileSync(path.join(host.folder, 'atrium.json'), 'utf8'))).toEqual({
      permissions: { allow: ['shell(date)'] },
    });
    expect(await rulesOf(host)).toMatchObject([
      { scope: 'person', rule: 'shell(echo *)', lastUsed: expect.any(Number) },
      { scope: 'person', rule: 'shell(true)' },
      { scope: 'project', rule: 'shell(date)', from: path.join(host.folder, 'atrium.json') },
      { scope: 'session', rule: 'shell(pwd)' },
    ]);
  });

  it('a person may still change the input: rules look at what runs', async () => {
    const host = await world({
      before: (_folder, person) => write(person, { permissions: { deny: ['shell(rm *)'] } }),
    });
    const asked = host.call('shell', { command: 'true' });
    await host.seen('pending-confirmation');
    await host.answer({ editedToolInput: JSON.stringify({ command: 'rm x' }) });
    expect(await asked).toMatchObject({ kind: 'denied' });
  });

  it('[DAY-002] the tool of the host runs /bin/sh, also where the person has another shell', async () => {
    vi.stubEnv('SHELL', '/usr/bin/zsh');
    onTestFinished(() => void vi.unstubAllEnvs());
    const host = await world({
      before: (_folder, person) => write(person, { permissions: { allow: ['shell(echo *)'] } }),
    });
    expect(await host.call('shell', { command: 'echo "by $0"' })).toMatchObject({
      success: true,
      text: expect.stringContaining('by /bin/sh'),
    });
  });

  it('the record of a call whose input a person changed is about what ran, and says so', async () => {
    const host = await world({
      before: (_folder, person) => write(person, { permissions: { ask: ['shell(touch *)'], allow: ['shell(true)'] } }),
    });
    const asked = host.call('shell', { command: 'touch a' });
    const before = await host.seen('pending-confirmation');
    expect(callPermission(before)).toMatchObject({ effect: 'ask', rule: 'shell(touch *)' });
    await host.answer({ editedToolInput: JSON.stringify({ command: 'true' }) });
    expect(await asked).toMatchObject({ success: true });
    const ran = await host.seen('completed');
    expect(callPermission(ran)).toMatchObject({ effect: 'allow', rule: 'shell(true)', isChangedByPerson: true });
    expect(decisionWords(ran)).toMatch(/^Allowed by .*, who changed the input$/);
    const kept = host.call('shell', { command: 'touch a' });
    await host.seen('pending-confirmation');
    await host.answer({});
    await kept;
    const plain = callPermission(await host.seen('completed'));
    expect(plain).toMatchObject({ effect: 'ask', rule: 'shell(touch *)' });
    expect(plain).not.toHaveProperty('isChangedByPerson');
  });

  it('what rules of the host say holds for everybody, and stays when the session allows everything', async () => {
    const host = await world();
    const data = path.join(path.dirname(host.folder), 'data');
    write(path.join(data, 'permissions.json'), { deny: ['shell(rm *)'] });
    host.client.dispatch(host.uri, { type: 'session/configChanged', config: { autoApprove: true } } as never);
    await host.mode('ask');
    expect(await host.call('shell', { command: 'true' })).toMatchObject({ success: true });
    expect(await host.call('shell', { command: 'rm x' })).toMatchObject({ kind: 'denied' });
    expect(await rulesOf(host)).toMatchObject([
      { scope: 'host', effect: 'deny' },
      { scope: 'session', effect: 'allow', rule: '*' },
    ]);
  });
});

describe('[DAY-006] rules of a project', () => {
  const atrium = (value: unknown) => (folder: string) => write(path.join(folder, 'atrium.json'), value);

  it('deny and ask at once, and allow only what a person has trusted as it is', async () => {
    const host = await world({
      before: atrium({ permissions: { allow: ['shell(true)', 'shell(echo *)'], deny: ['shell(rm *)'] } }),
    });
    expect(await host.call('shell', { command: 'rm x' })).toMatchObject({ kind: 'denied' });
    const asked = host.call('shell', { command: 'true' });
    await host.seen('pending-confirmation');
    await host.answer({});
    await asked;
    expect(await rulesOf(host)).toMatchObject([
      { effect: 'deny' },
      { rule: 'shell(true)', isIdle: expect.stringContaining('trust') },
      { rule: 'shell(echo *)', isIdle: expect.any(String) },
    ]);
    await host.trust.trust(host.folder, [ruleProgram('shell(true)').digest]);
    expect(await host.call('shell', { command: 'true' })).toMatchObject({ success: true });
    const other = host.call('shell', { command: 'echo a' });
    await host.seen('pending-confirmation');
    await host.answer({ approved: false, reason: 'denied' });
    await other;
    atrium({ permissions: { allow: ['shell(true *)'] } })(host.folder);
    const changed = host.call('shell', { command: 'true' });
    await host.seen('pending-confirmation');
    await host.answer({ approved: false, reason: 'denied' });
    await changed;
  });

  it('hold in its worktrees: an answer in one of them is written to the main folder, and changes no branch', async () => {
    const permissions = { allow: ['shell(true)'], deny: ['shell(rm *)'] };
    const mainOf = (folder: string) => path.join(path.dirname(folder), 'main');
    const host = await world({ before: (folder) => worktree(mainOf(folder), folder, { permissions }) });
    const main = mainOf(host.folder);
    await host.trust.trust(main, [ruleProgram('shell(true)').digest]);
    expect(await host.call('shell', { command: 'true' })).toMatchObject({ success: true });
    expect(await host.call('shell', { command: 'rm x' })).toMatchObject({ kind: 'denied' });
    const asked = host.call('shell', { command: 'date' });
    await host.seen('pending-confirmation');
    await host.answer({ selectedOptionId: 'always-project' });
    await asked;
    expect(await host.call('shell', { command: 'date' })).toMatchObject({ success: true });
    expect(gitIn(host.folder, 'status', '--short')).toBe('');
    const from = path.join(main, 'atrium.json');
    expect(JSON.parse(readFileSync(from, 'utf8')).permissions.allow).toEqual(['shell(true)', 'shell(date)']);
    expect(await rulesOf(host)).toMatchObject([
      { rule: 'shell(rm *)', from },
      { rule: 'shell(true)', from },
      { rule: 'shell(date)', from },
    ]);
    const rule = { scope: 'project', effect: 'allow', rule: 'shell(true)' };
    expect(await host.ask(REMOVE_PERMISSION_METHOD, rule)).toEqual({ wasThere: true });
    expect(gitIn(host.folder, 'status', '--short').trim()).toBe('M atrium.json');
    const again = host.call('shell', { command: 'true' });
    await host.seen('pending-confirmation');
    await host.answer({ approved: false, reason: 'denied' });
    await again;
  });

  it('do not hold in a folder that only says that it is a worktree', async () => {
    const base = await tempFolder();
    const [main, real, forged] = ['main', 'real', 'forged'].map((name) => path.join(base, name)) as [
      string,
      string,
      string,
    ];
    worktree(main, real);
    mkdirSync(path.join(real, 'sub'));
    expect([real, path.join(real, 'sub'), main].map(projectFolderOf)).toEqual([main, path.join(main, 'sub'), main]);
    for (const link of [readFileSync(path.join(real, '.git'), 'utf8'), 'gitdir: nowhere', 'x', '']) {
      mkdirSync(forged, { recursive: true });
      writeFileSync(path.join(forged, '.git'), link);
      expect(projectFolderOf(forged)).toBe(forged);
    }
    rmSync(path.join(forged, '.git'));
    symlinkSync(path.join(real, '.git'), path.join(forged, '.git'));
    symlinkSync('../.git', path.join(real, 'sub', '.git'));
    expect([forged, path.join(real, 'sub')].map(projectFolderOf)).toEqual([forged, path.join(real, 'sub')]);
  });

  it('a file that cannot be read asks about everything, also what others allow', async () => {
    const host = await world({
      before: (folder, person) => {
        atrium('{ "permissions": { "deny": ["shell(rm *)" ')(folder);
        write(person, { permissions: { allow: ['shell'] } });
      },
    });
    const asked = host.call('shell', { command: 'true' });
    expect(callPermission(await host.seen('pending-confirmation'))).toMatchObject({ effect: 'ask', scope: 'project' });
    await host.answer({});
    await asked;
    expect(((await host.ask(PERMISSIONS_METHOD)) as PermissionList).problems[0]).toContain('atrium.json');
  });
});

describe('[DAY-007] modes', () => {
  it('accept edits: writes in the folder without a question, and not through links out of it', async () => {
    const host = await world();
    await host.mode('accept-edits');
    expect(await host.call('write_file', { path: 'a.txt', content: 'a' })).toMatchObject({ success: true });
    expect(callPermission(await host.seen('completed'))).toMatchObject({
      effect: 'allow',
      mode: 'accept-edits',
      scope: 'built-in',
    });
    symlinkSync(path.dirname(host.folder), path.join(host.folder, 'out'));
    expect(await host.call('write_file', { path: 'out/b.txt', content: 'b' })).toMatchObject({ success: false });
    const shell = host.call('shell', { command: 'true' });
    await host.seen('pending-confirmation');
    // Switched while the call waits: what was asked stays asked, and the next call is decided anew.
    await host.mode('auto');
    await host.answer({});
    await shell;
    expect(await host.call('shell', { command: 'ls > list.txt' })).toMatchObject({ success: true });
  });

  it('plan: refuses changes, ends with a plan that a person edits, and starts the work in the mode chosen then [DAY-123]', async () => {
    const host = await world();
    await host.mode('plan');
    expect(await host.call('write_file', { path: 'a.txt', content: 'a' })).toMatchObject({
      kind: 'denied',
      reason: expect.stringContaining('plan mode'),
    });
    expect(await host.call('shell', { command: 'npm test' })).toMatchObject({ kind: 'denied' });
    expect(await host.call('shell', { command: 'ls | head -3' })).toMatchObject({ success: true });
    expect(await host.call('list_files', {})).toMatchObject({ success: true });
    host.client.dispatch(host.uri, { type: 'session/configChanged', config: { autoApprove: true } } as never);
    const rejected = host.call('present_plan', { plan: '1. Guess' });
    expect((await host.seen('pending-confirmation')) as ToolCallPendingConfirmationState).toMatchObject({
      editable: true,
      options: { length: 4 },
    });
    await host.answer({ approved: false, reason: 'denied', reasonMessage: 'look again' });
    expect(await rejected).toMatchObject({ kind: 'denied' });
    expect(await host.call('write_file', { path: 'a.txt', content: 'a' })).toMatchObject({ kind: 'denied' });
    const presented = host.call('present_plan', { plan: '1. Write a.txt' });
    await host.seen('pending-confirmation');
    await host.answer({
      selectedOptionId: 'start-accept-edits',
      editedToolInput: JSON.stringify({ plan: '1. Write b.txt' }),
    });
    expect(await presented).toMatchObject({ success: true, text: expect.stringContaining('1. Write b.txt') });
    expect((await host.client.state<{ config: { values: object } }>(host.uri)).config.values).toMatchObject({
      mode: 'accept-edits',
      autoApprove: false,
    });
    // The answer to a plan is about that plan: the next session begins in the mode that the person chose [DAY-123].
    const last = { folder: pathToFileURL(host.folder).href };
    expect(await host.client.request('atrium/lastChoice', last)).toMatchObject({ config: { mode: 'plan' } });
    expect(await host.call('write_file', { path: 'b.txt', content: 'b' })).toMatchObject({ success: true });
    const { activeTurn } = await host.client.state<ChatState>(host.chat);
    const notes = activeTurn?.responseParts.flatMap((part) =>
      part.kind === 'systemNotification' ? [part.content] : [],
    );
    expect(notes).toEqual(['Mode: Plan', 'Mode: Accept edits']);
    // A turn in the same mode says nothing of it; one in another mode does, also in the usual one.
    expect(await host.nextNotes()).toEqual([]);
    expect(await host.nextNotes('ask')).toEqual(['Mode: Ask']);
    expect(await host.nextNotes()).toEqual([]);
  });
});

describe('[DAY-008] gates in every mode', () => {
  it.each(['ask', 'accept-edits', 'auto', 'plan'])('are asked in the mode %s, and make it stricter', async (mode) => {
    const seen: string[] = [];
    const watching = gate('watch', ({ toolName }) => {
      seen.push(toolName);
      return toolName === 'list_files' ? { kind: 'deny', reason: 'not now' } : { kind: 'ask', reason: 'sure?' };
    });
    const host = await world({
      extensions: [extension('watch', { gates: [watching] })],
      before: (_folder, person) => write(person, { permissions: { allow: ['shell(ls *)', 'list_files'] } }),
    });
    if (mode !== 'ask') await host.mode(mode);
    expect(await host.call('list_files', {})).toMatchObject({ kind: 'denied', reason: 'watch: not now' });
    const asked = host.call('shell', { command: 'ls' });
    const { confirmationTitle, options = [] } = (await host.seen(
      'pending-confirmation',
    )) as ToolCallPendingConfirmationState;
    expect([confirmationTitle, options.some(({ id }) => id.startsWith('always'))]).toEqual(['watch: sure?', false]);
    await host.answer({});
    expect(await asked).toMatchObject({ success: true });
    expect(seen).toEqual(['list_files', 'shell']);
  });
});

describe('[DAY-009] rules over the protocol', () => {
  it('are listed, added, tried and removed, in the files of those whose they are', async () => {
    const host = await world({
      before: (_folder, person) =>
        write(person, '{\n\t// all of it\n\t"permissions": {\n\t\t"allow": ["shell(ls *)"] // looking\n\t}\n}\n'),
    });
    await host.ask(ADD_PERMISSION_METHOD, { scope: 'person', effect: 'deny', rule: 'shell(rm *)' });
    for (const comment of ['// looking', '// all of it'])
      expect(readFileSync(host.personFile, 'utf8')).toContain(comment);
    expect(await host.ask(TEST_PERMISSION_METHOD, { command: 'ls; rm x' })).toMatchObject({
      effect: 'deny',
      rule: 'shell(rm *)',
      scope: 'person',
    });
    expect(await host.ask(TEST_PERMISSION_METHOD, { command: 'ls -l' })).toMatchObject({ effect: 'allow' });
    expect(await host.ask(TEST_PERMISSION_METHOD, { command: 'npm test' })).toMatchObject({
      effect: 'none',
      proposes: ['shell(npm test)'],
    });
    await host.ask(ADD_PERMISSION_METHOD, { scope: 'session', effect: 'ask', rule: 'web_fetch' });
    expect((await rulesOf(host)).map(({ scope, effect, rule }) => `${scope} ${effect} ${rule}`)).toEqual([
      'person deny shell(rm *)',
      'person allow shell(ls *)',
      'session ask web_fetch',
    ]);
    expect(await host.ask(REMOVE_PERMISSION_METHOD, { scope: 'session', effect: 'ask', rule: 'web_fetch' })).toEqual({
      wasThere: true,
    });
    expect(await host.ask(REMOVE_PERMISSION_METHOD, { scope: 'person', effect: 'allow', rule: 'shell(ls *)' })).toEqual(
      { wasThere: true },
    );
    expect(await host.ask(REMOVE_PERMISSION_METHOD, { scope: 'person', effect: 'allow', rule: 'shell(ls *)' })).toEqual(
      { wasThere: false },
    );
    expect(await rulesOf(host)).toMatchObject([{ rule: 'shell(rm *)' }]);
  });

  it('says what is wrong with a rule or a place', async () => {
    const host = await world();
    for (const [params, words] of [
      [{ scope: 'host', effect: 'allow', rule: 'shell' }, 'scope'],
      [{ scope: 'session', effect: 'maybe', rule: 'shell' }, 'effect'],
      [{ scope: 'session', effect: 'allow', rule: 'shell(* x)' }, 'name of a program'],
      [{ scope: 'session', effect: 'allow' }, 'rule'],
    ] as const)
      await expect(host.ask(ADD_PERMISSION_METHOD, params)).rejects.toThrow(words);
    write(host.personFile, '{ broken');
    await expect(
      host.ask(ADD_PERMISSION_METHOD, { scope: 'person', effect: 'allow', rule: 'shell(ls)' }),
    ).rejects.toThrow('not JSON');
    expect(readFileSync(host.personFile, 'utf8')).toBe('{ broken');
  });

  it('are not lost when many are added at once', async () => {
    const host = await world();
    await Promise.all(
      Array.from({ length: 12 }, (_, index) =>
        host.ask(ADD_PERMISSION_METHOD, { scope: 'person', effect: 'allow', rule: `shell(tool${index})` }),
      ),
    );
    expect(JSON.parse(readFileSync(host.personFile, 'utf8')).permissions.allow).toHaveLength(12);
  });
});
