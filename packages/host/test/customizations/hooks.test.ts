import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { systemClock } from '@atrium/core/util/clock.js';
import { describe, expect, it, onTestFinished } from 'vitest';
import { Hooks, isMatching } from '../../src/plugins/customizations/plugin-hooks.js';
import type { HookPart } from '../../src/plugins/formats/hook-declarations.js';
import { type CustomFixtureOptions, openCustomFixture, POLL } from '../support/custom-fixture.js';
import { callsIn, runningCall } from '../support/session-fixture.js';
import { tempFolder } from '../support/temp-folder.js';

interface Declared {
  readonly command: string;
  readonly matcher?: string;
  readonly timeout?: number;
}

type Events = Readonly<Record<string, readonly Declared[]>>;

function hooksFile(events: Events): string {
  const groups = Object.entries(events).map(([event, declared]) => [
    event,
    declared.map(({ matcher, ...action }) => ({
      ...(matcher && { matcher }),
      hooks: [{ type: 'command', ...action }],
    })),
  ]);
  return JSON.stringify({ hooks: Object.fromEntries(groups) });
}

/** A user's plugin `guard` with these hooks. */
async function openHookFixture(events: Events, options: CustomFixtureOptions = {}) {
  const fixture = await openCustomFixture({
    ...options,
    user: { 'plugins/guard/hooks/hooks.json': hooksFile(events) },
  });
  await fixture.entry('guard');
  return fixture;
}

const read = { name: 'read_file', input: { path: 'a.txt' } };
const project = { 'a.txt': 'alpha' };

describe('hooks before a call', { timeout: 30_000 }, () => {
  it('[CUS-055] refuse it with exit code 2, and the model hears why', async () => {
    const fixture = await openHookFixture(
      { PreToolUse: [{ command: 'echo "not that file" >&2; exit 2' }] },
      { project },
    );
    const { turn } = await fixture.turn();
    expect(await turn.callTool(read)).toEqual({ kind: 'denied', reason: 'guard: not that file' });
    const [call] = callsIn((await fixture.state()).activeTurn?.responseParts);
    expect(call).toMatchObject({ status: 'cancelled', reason: 'denied', reasonMessage: 'guard: not that file' });
  });

  it('[CUS-055] refuse it with a printed decision, in each of its forms', async () => {
    const forms = [
      { hookSpecificOutput: { permissionDecision: 'deny', permissionDecisionReason: 'nested' } },
      { permissionDecision: 'deny', permissionDecisionReason: 'flat' },
      { decision: 'block', reason: 'older' },
      { continue: false, stopReason: 'stop' },
    ];
    for (const [index, form] of forms.entries()) {
      const fixture = await openHookFixture(
        { PreToolUse: [{ command: `echo '${JSON.stringify(form)}'` }] },
        { project },
      );
      const { turn } = await fixture.turn();
      const reason = ['nested', 'flat', 'older', 'stop'][index];
      expect(await turn.callTool(read)).toEqual({ kind: 'denied', reason: `guard: ${reason}` });
    }
  });

  it('want a person to look with "ask", also where the tool would not ask', async () => {
    const answer = { hookSpecificOutput: { permissionDecision: 'ask', permissionDecisionReason: 'really?' } };
    const fixture = await openHookFixture(
      { PreToolUse: [{ command: `echo '${JSON.stringify(answer)}'` }] },
      { project },
    );
    const { turn, turnId } = await fixture.turn();
    const outcome = turn.callTool({ ...read, id: 'c1' });
    expect(await runningCall(fixture.client, fixture.uri, 'pending-confirmation')).toMatchObject({
      confirmationTitle: 'guard: really?',
    });
    const confirmed = { type: 'session/toolCallConfirmed', turnId, toolCallId: 'c1', approved: true } as const;
    fixture.client.dispatch(fixture.uri, { ...confirmed, confirmed: 'user-action' });
    expect(await outcome).toMatchObject({ kind: 'completed', success: true });
  });

  it('let it pass when they fail or take too long, with a warning in the log', async () => {
    const failing = [{ command: 'exit 7' }, { command: 'sleep 30', timeout: 0.2 }, { command: '/no/such/program' }];
    const fixture = await openHookFixture({ PreToolUse: failing }, { project });
    const { turn } = await fixture.turn();
    expect(await turn.callTool(read)).toMatchObject({ kind: 'completed', success: true });
    const warnings = fixture.warnings.filter((line) => line.startsWith('a hook failed'));
    expect(warnings).toHaveLength(3);
    expect(warnings.join()).toContain('exit code 7');
    expect(warnings.join()).toContain('took too long');
  });

  it('get the event as JSON, and run only for the tools that their matcher names', async () => {
    const fixture = await openHookFixture(
      {
        PreToolUse: [
          { command: 'cat > seen.json', matcher: 'Read' },
          { command: 'exit 2', matcher: 'Bash|mcp__.*' },
        ],
      },
      { project },
    );
    const { turn } = await fixture.turn();
    expect(await turn.callTool(read)).toMatchObject({ kind: 'completed', success: true });
    const event = JSON.parse(await readFile(path.join(fixture.folder, 'seen.json'), 'utf8'));
    expect(event).toMatchObject({
      hook_event_name: 'PreToolUse',
      tool_name: 'read_file',
      tool_input: { path: 'a.txt' },
    });
    expect(event).toMatchObject({ session_id: fixture.uri, cwd: fixture.folder });
    expect(await turn.callTool({ name: 'shell', input: { command: 'echo hi' } })).toMatchObject({ kind: 'denied' });
  });

  it('with a matcher that would take for ever are run rather than skipped', () => {
    const hook = { event: 'PreToolUse', matcher: '^(([a-z])+.)+[A-Z]([a-z])+$' } as HookPart;
    expect(isMatching(hook, ['a'.repeat(60)])).toBe(true);
    expect(isMatching(hook, ['abc'])).toBe(false);
  });

  it('[CUS-056] start in the folder of the session, with the folders of their plugin in the environment', async () => {
    const command = 'echo "$PWD|$PLUGIN_ROOT|$CLAUDE_PROJECT_DIR|$ATRIUM_SECRET" > where.txt';
    process.env.ATRIUM_SECRET = 'hush';
    const fixture = await openHookFixture({ PreToolUse: [{ command }] }, { project });
    const { turn } = await fixture.turn();
    await turn.callTool(read);
    delete process.env.ATRIUM_SECRET;
    const where = (await readFile(path.join(fixture.folder, 'where.txt'), 'utf8')).trim();
    expect(where).toBe([fixture.folder, path.join(fixture.userFolder, 'plugins/guard'), fixture.folder, ''].join('|'));
  });

  it('[CUS-056] find the programs and the home of the user: they get the PATH and the HOME of the host', async () => {
    const { PATH, HOME } = process.env;
    onTestFinished(() => void Object.assign(process.env, { PATH, HOME }));
    Object.assign(process.env, { PATH: `${PATH}:/opt/of-the-user`, HOME: '/home/of-the-user' });
    const fixture = await openHookFixture({ PreToolUse: [{ command: 'echo "$PATH|$HOME" > where.txt' }] }, { project });
    const { turn } = await fixture.turn();
    await turn.callTool(read);
    const where = await readFile(path.join(fixture.folder, 'where.txt'), 'utf8');
    expect(where.trim()).toBe(`${PATH}:/opt/of-the-user|/home/of-the-user`);
  });
});

describe('hooks after a call and around turns', { timeout: 30_000 }, () => {
  it('add a note to the result, of a call that went well and of one that did not', async () => {
    const note = (text: string) => `echo '{"hookSpecificOutput":{"additionalContext":"${text}"}}'`;
    const fixture = await openHookFixture(
      {
        PostToolUse: [{ command: note('went well') }],
        PostToolUseFailure: [{ command: 'echo "look again" >&2; exit 2' }],
      },
      { project },
    );
    const { turn } = await fixture.turn();
    expect(await turn.callTool(read)).toMatchObject({ text: expect.stringContaining('[Note of guard: went well]') });
    const missing = await turn.callTool({ name: 'read_file', input: { path: 'b.txt' } });
    expect(missing).toMatchObject({ success: false, text: expect.stringContaining('[Note of guard: look again]') });
  });

  it('tell the model something at the start of the session, once, and with each message', async () => {
    const fixture = await openHookFixture({
      SessionStart: [{ command: 'echo "It is Monday."' }],
      UserPromptSubmit: [{ command: 'echo "They said: $(cat)"' }],
    });
    const first = await fixture.turn('hello there');
    expect(first.turn.context.join()).toContain('It is Monday.');
    expect(first.turn.context.join()).toContain('"prompt":"hello there"');
    first.finish();
    await fixture.client.action(fixture.uri, 'session/turnComplete');
    const second = await fixture.turn('again');
    expect(second.turn.context.join()).not.toContain('Monday');
    expect(second.turn.context.join()).toContain('"prompt":"again"');
  });

  it.skipIf(process.platform === 'win32')(
    '[CUS-056] run in bash without the files of the user, whatever these print (skipped: no bash)',
    async () => {
      const folder = await tempFolder({ '.bashrc': 'echo noise; exit 3\n' });
      const action = {
        kind: 'command',
        shell: 'bash',
        command: 'echo "plums for $USER"',
        env: { HOME: folder, USER: 'me', SHLVL: '0' },
      };
      const hooks = new Hooks({
        ...{ session: 'ahp-session:/1', container: { name: 'guard' }, folder, env: process.env },
        ...{ clock: systemClock, logger: { log: () => {} } },
      });
      hooks.allow([{ event: 'UserPromptSubmit', action } as unknown as HookPart]);
      const opening = { chat: 'ahp-chat:/1', turnId: 't1', text: 'hello', agent: undefined, isFirst: true };
      const advice = await hooks.beforeTurn(opening, new AbortController().signal);
      expect(JSON.stringify(advice)).toContain('plums for me');
      expect(JSON.stringify(advice)).not.toContain('noise');
    },
  );

  it('start the session with the next turn, when the first was cancelled meanwhile', async () => {
    const folder = await tempFolder();
    const command = 'if [ -f begun ]; then echo plums; else touch begun; sleep 30; fi';
    const action = { kind: 'command', shell: 'default', command, env: {} };
    const hooks = new Hooks({
      ...{ session: 'ahp-session:/1', container: { name: 'guard' }, folder, env: process.env },
      ...{ clock: systemClock, logger: { log: () => {} } },
    });
    hooks.allow([{ event: 'SessionStart', action } as unknown as HookPart]);
    const opening = { chat: 'ahp-chat:/1', turnId: 't1', text: 'hello', agent: undefined, isFirst: true };
    const cancelling = new AbortController();
    const early = hooks.beforeTurn(opening, cancelling.signal);
    await expect.poll(() => existsSync(path.join(folder, 'begun')), POLL).toBe(true);
    cancelling.abort(new Error('cancelled'));
    await expect(early).rejects.toThrow('cancelled');
    const { signal } = new AbortController();
    expect(await hooks.beforeTurn({ ...opening, isFirst: false }, signal)).toEqual({ context: 'plums' });
    expect(await hooks.beforeTurn({ ...opening, isFirst: false }, signal)).toBeUndefined();
  });

  it('keep what they said at the start for the first message that gets through', async () => {
    const fixture = await openHookFixture({
      SessionStart: [{ command: 'echo "It is Monday."' }],
      UserPromptSubmit: [{ command: 'if grep -q secret; then exit 2; fi' }],
    });
    await fixture.client.turn(fixture.uri, 'a secret', 'early');
    const { turn } = await fixture.turn('hello');
    expect(turn.context).toEqual(['It is Monday.']);
  });

  it('stop a message that must not reach the agent', async () => {
    const fixture = await openHookFixture({ UserPromptSubmit: [{ command: 'echo "no secrets" >&2; exit 2' }] });
    await fixture.client.turn(fixture.uri, 'my password is 1234', 't1');
    const { turns } = await fixture.state();
    expect(turns.at(-1)).toMatchObject({ state: 'error', error: { message: 'guard: no secrets' } });
    expect(fixture.agent.turns).toHaveLength(0);
  });

  it('hear of the end of a turn and of the session', async () => {
    const fixture = await openHookFixture({
      Stop: [{ command: 'echo stop >> ends.txt' }],
      SessionEnd: [{ command: 'echo end >> ends.txt' }],
    });
    const { finish } = await fixture.turn();
    finish();
    const ends = () => readFile(path.join(fixture.folder, 'ends.txt'), 'utf8').catch(() => '');
    await expect.poll(ends, POLL).toBe('stop\n');
    await fixture.host.stop();
    expect(await ends()).toBe('stop\nend\n');
  });
});

describe('hooks about workers', { timeout: 30_000 }, () => {
  const task = { name: 'task', input: { title: 'Count', prompt: 'How many?' } };
  /** The person watches with a program that shows chats: otherwise no worker would be started. */
  async function withWorker(hooks: Events) {
    const fixture = await openHookFixture(hooks);
    await fixture.connect('shows-chats', undefined, {
      protocolVersions: ['1.0.0'],
      initialSubscriptions: [fixture.uri],
    });
    const { turn, finish } = await fixture.turn();
    const outcome = turn.callTool(task);
    const worker = await fixture.agent.turn(1);
    const file = (name: string) => readFile(path.join(fixture.folder, name), 'utf8').catch(() => '');
    return { fixture, outcome, worker, finish, file };
  }

  it('[CUS-052] hear of its beginning and its end, and not of its message as one of a person', async () => {
    const save = (name: string) => ({ command: `cat >> ${name}` });
    const { outcome, worker, finish, file } = await withWorker({
      SubagentStart: [save('start.txt'), { command: 'echo Be brief.' }, { matcher: 'Other', ...save('other.txt') }],
      SubagentStop: [save('stop.txt')],
      UserPromptSubmit: [save('prompt.txt')],
      Stop: [{ command: 'echo stop >> ends.txt' }],
    });
    expect(worker.turn.context.join()).toContain('Be brief.');
    worker.turn.text('It is three.');
    worker.finish();
    expect(await outcome).toMatchObject({ kind: 'completed', text: expect.stringContaining('It is three.') });
    const started = JSON.parse(await file('start.txt'));
    expect(started).toMatchObject({ hook_event_name: 'SubagentStart', agent_type: 'Count' });
    expect(JSON.parse(await file('stop.txt'))).toMatchObject({
      ...{ hook_event_name: 'SubagentStop', agent_type: 'Count', agent_id: started.agent_id },
      ...{ stop_hook_active: false, last_assistant_message: 'It is three.' },
    });
    expect(await file('other.txt')).toBe('');
    expect(await file('ends.txt')).toBe('');
    expect((await file('prompt.txt')).split('\n').filter(Boolean)).toHaveLength(1);
    finish();
    await expect.poll(() => file('ends.txt'), POLL).toBe('stop\n');
  });

  it('[CUS-052] may send it on, and it is told why', async () => {
    const command = 'if [ -f once ]; then exit 0; fi; touch once; echo "Count again." >&2; exit 2';
    const { fixture, outcome, worker } = await withWorker({ SubagentStop: [{ command }] });
    worker.turn.text('Two.');
    worker.finish();
    const again = await fixture.agent.turn(2);
    expect(again.turn.message.text).toContain('Count again.');
    again.turn.text('Three.');
    again.finish();
    expect(await outcome).toMatchObject({ kind: 'completed', text: expect.stringContaining('Three.') });
  });
});

describe('hooks of strangers', { timeout: 30_000 }, () => {
  const stranger = {
    project: {
      ...project,
      '.agents/plugins/guard/hooks/hooks.json': hooksFile({ PreToolUse: [{ command: 'exit 2' }] }),
    },
  };

  it('[CUS-057] do not run before somebody trusts the folder, and do afterwards', async () => {
    const fixture = await openCustomFixture(stranger);
    await fixture.entry('guard');
    const { turn } = await fixture.turn();
    expect(await turn.callTool(read)).toMatchObject({ kind: 'completed', success: true });
    const question = await fixture.answer('accept');
    expect(question).toContain('    hook PreToolUse of plugin guard in ./.agents/plugins/guard: exit 2\n');
    await expect.poll(() => fixture.trust.folders.has(fixture.folder), POLL).toBe(true);
    await expect.poll(async () => (await turn.callTool(read)).kind, POLL).toBe('denied');
  });

  it.each(['accept', 'decline'] as const)('[CUS-057] run at every event or at none (%s)', async (response) => {
    const before = ['SessionStart', 'UserPromptSubmit', 'PreToolUse', 'PostToolUse', 'PreToolUse'];
    const events = [...before, 'PostToolUseFailure', 'Stop', 'SessionEnd'];
    const declared = events.map((event) => [event, [{ command: `echo ${event} >> ran.txt` }]]);
    const file = { '.agents/plugins/guard/hooks/hooks.json': hooksFile(Object.fromEntries(declared)) };
    const fixture = await openCustomFixture({ project: { ...project, ...file } });
    await fixture.entry('guard');
    await fixture.answer(response);
    if (response === 'accept') await expect.poll(() => fixture.trust.folders.has(fixture.folder), POLL).toBe(true);
    const { turn, finish } = await fixture.turn();
    expect(await turn.callTool(read)).toMatchObject({ kind: 'completed', success: true });
    expect(await turn.callTool({ name: 'read_file', input: { path: 'b.txt' } })).toMatchObject({ success: false });
    finish();
    await fixture.client.action(fixture.uri, 'session/turnComplete');
    await fixture.host.stop();
    const ran = await readFile(path.join(fixture.folder, 'ran.txt'), 'utf8').catch(() => '');
    expect(ran.split('\n').slice(0, -1)).toEqual(response === 'accept' ? events : []);
  });

  it('[CUS-118] [CUS-119] do not run while their container is off, and run again when it is on', async () => {
    const fixture = await openHookFixture({ PreToolUse: [{ command: 'exit 2' }] }, { project });
    const { id } = await fixture.entry('guard');
    const { turn } = await fixture.turn();
    expect(await turn.callTool(read)).toMatchObject({ kind: 'denied' });
    fixture.toggle(id, false);
    await fixture.entry('guard', ({ enabled }) => !enabled);
    expect(await turn.callTool(read)).toMatchObject({ kind: 'completed', success: true });
    fixture.toggle(id, true);
    await fixture.entry('guard', ({ enabled }) => enabled);
    expect(await turn.callTool(read)).toMatchObject({ kind: 'denied' });
  });
});
