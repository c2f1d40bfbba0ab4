import { pathToFileURL } from 'node:url';
import { AgentError } from '@atrium/core/contracts/agent.js';
import { type AutomationRunState, defaultChatUri } from '@atrium/protocol/ahp-1';
import { describe, expect, it } from 'vitest';
import { REQUEST_ID_MAX_CHARACTERS, RUN_HISTORY_LIMIT, RUNS_PAGE } from '../../src/automations/limits.js';
import { AUTOMATION, AUTOMATIONS_CHANNEL, AutomationFixture, definition } from '../support/automation-fixture.js';
import { dataFolder, openLog } from '../support/log-folders.js';
import { FailingLog } from '../support/logs.js';
import { nativeClient } from '../support/native-client.js';
import { PuppetAgent } from '../support/puppet-agent.js';
import { tempFolder } from '../support/temp-folder.js';
import { ROOT, settle } from '../support/test-host.js';
import { echoTool } from '../support/tools.js';

const fetch = (cursor?: string) => ({
  channel: AUTOMATIONS_CHANNEL,
  automation: AUTOMATION,
  ...(cursor !== undefined && { cursor }),
});

describe('a run of an automation', () => {
  it('[AUT-010] [UP-147] works in a session like any other, and is followed to its end', async () => {
    const fixture = await AutomationFixture.open();
    const folder = pathToFileURL(await tempFolder()).href;
    const session = {
      provider: 'puppet',
      model: { id: 'large' },
      workingDirectories: [folder],
      config: { autoApprove: false },
    };
    await fixture.create({ session });
    const run = await fixture.run();
    expect(run).toMatch(/^ahp-automation-run:\/[0-9a-f-]{36}$/);
    const { turn, finish } = await fixture.agent.turn(0);
    expect(turn.message).toMatchObject({ text: 'look at the build', origin: { kind: 'automation' } });
    const running = await fixture.until(run, 'running');
    const [uri = ''] = running.sessions;
    expect(running).toMatchObject({ automation: AUTOMATION, origin: { kind: 'manual' }, primarySession: uri });
    expect(await fixture.session(uri)).toMatchObject({
      ...{ title: 'Nightly', provider: 'puppet', lifecycle: 'ready', workingDirectories: [folder] },
      ...{ origin: { kind: 'automation', automation: AUTOMATION, run }, config: { values: { autoApprove: false } } },
    });
    expect((await fixture.chat(uri)).activeTurn?.message).toMatchObject({ model: { id: 'large' } });
    turn.usage({ inputTokens: 5, outputTokens: 7 });
    await fixture.clock.advance(2_000);
    finish();
    const done = await fixture.until(run, 'completed');
    expect(done.lifecycle).toEqual({
      status: 'completed',
      createdAt: '2025-01-01T00:00:00.000Z',
      startedAt: '2025-01-01T00:00:00.000Z',
      completedAt: '2025-01-01T00:00:02.000Z',
      usage: { inputTokens: 5, outputTokens: 7 },
    });
    expect(await fixture.runs()).toEqual([done]);
    const { items } = await fixture.client.request<{ items: { resource: string }[] }>('listSessions', {
      channel: ROOT,
    });
    expect(items.map(({ resource }) => resource)).toEqual([uri]);
  });

  it('[AUT-011] starts once for one request, also when that is repeated after a restart', async () => {
    const log = await openLog(dataFolder());
    log.close = async () => {};
    const fixture = await AutomationFixture.open({ log });
    await fixture.create();
    const [first, same] = await Promise.all([fixture.run('r1'), fixture.run('r1')]);
    expect(same).toBe(first);
    (await fixture.agent.turn(0)).finish();
    await fixture.until(first, 'completed');
    expect(await fixture.run('r1')).toBe(first);
    const again = await fixture.crash();
    expect(await again.run('r1')).toBe(first);
    await settle();
    expect(again.agent.turns).toEqual([]);
    expect(await again.run('r2')).not.toBe(first);
  });

  it('[AUT-011] needs the name of an automation and a usable request', async () => {
    const fixture = await AutomationFixture.open();
    await fixture.create();
    const ask = (params: object) => fixture.client.ask('runAutomation', { ...fetch(), requestId: 'r', ...params });
    expect((await ask({ automation: 'ahp-automation:/none' })).error).toMatchObject({ code: -32008 });
    expect((await ask({ requestId: '' })).error).toMatchObject({ code: -32602 });
    expect((await ask({ requestId: 'x'.repeat(REQUEST_ID_MAX_CHARACTERS + 1) })).error).toMatchObject({ code: -32602 });
    expect((await ask({ requestId: 'x'.repeat(REQUEST_ID_MAX_CHARACTERS) })).error).toBeUndefined();
  });

  it('[AUT-012] fails with its turn, and says why', async () => {
    const fixture = await AutomationFixture.open();
    await fixture.create();
    const run = await fixture.run();
    (await fixture.agent.turn(0)).fail(new AgentError('overloaded', 'Too busy.'));
    const { lifecycle } = await fixture.until(run, 'failed');
    expect(lifecycle).toMatchObject({ error: { errorType: 'overloaded', message: 'Too busy.' } });
    expect(lifecycle.completedAt).toBeDefined();
  });

  it('[AUT-012] fails when its session cannot be created, and when its agent cannot open', async () => {
    const fixture = await AutomationFixture.open();
    await fixture.create({ session: { provider: 'puppet', workingDirectories: ['file:///no/such/folder'] } });
    const first = await fixture.until(await fixture.run(), 'failed');
    expect(first.lifecycle.error?.message).toContain('/no/such/folder');
    expect(first.sessions).toEqual([]);
    await fixture.update({ session: { provider: 'puppet' } });
    fixture.agent.opening = Promise.reject(new Error('no key'));
    fixture.agent.opening.catch(() => {});
    const second = await fixture.until(await fixture.run(), 'failed');
    expect(second.lifecycle.error?.message).toContain('no key');
    expect(second.sessions).toHaveLength(1);
  });

  it('[AUT-013] is stopped by a client, and its turn with it', async () => {
    const fixture = await AutomationFixture.open();
    await fixture.create();
    const run = await fixture.run();
    const { turn } = await fixture.agent.turn(0);
    await fixture.client.request('subscribe', { channel: run });
    expect(await fixture.refusal({ type: 'automationRun/cancelRequested' }, run)).toBeUndefined();
    const { lifecycle, sessions } = await fixture.until(run, 'cancelled');
    expect(lifecycle.error).toBeUndefined();
    expect(turn.signal.aborted).toBe(true);
    expect((await fixture.chat(sessions[0])).turns).toMatchObject([{ state: 'cancelled' }]);
    expect(await fixture.refusal({ type: 'automationRun/cancelRequested' }, run)).toMatch(/cancelled already/);
  });

  it('[AUT-013] is stopped before it has begun', async () => {
    const fixture = await AutomationFixture.open();
    await fixture.create();
    let open = () => {};
    fixture.agent.opening = new Promise((resolve) => {
      open = resolve;
    });
    const run = await fixture.run();
    await fixture.client.request('subscribe', { channel: run });
    await settle();
    expect((await fixture.state(run)).lifecycle.status).toBe('pending');
    expect(await fixture.refusal({ type: 'automationRun/cancelRequested' }, run)).toBeUndefined();
    await fixture.until(run, 'cancelled');
    open();
    await settle(20);
    expect(fixture.agent.turns).toEqual([]);
  });

  it('[AUT-013] takes nothing else from clients', async () => {
    const fixture = await AutomationFixture.open();
    await fixture.create();
    const run = await fixture.run();
    await fixture.client.request('subscribe', { channel: run });
    const lifecycle = { status: 'completed', createdAt: 'x' };
    expect(await fixture.refusal({ type: 'automationRun/lifecycleChanged', lifecycle }, run)).toMatch(
      /cannot dispatch/,
    );
  });

  it('[AUT-014] approves nothing by itself: a person does', async () => {
    const tool = echoTool('write', { confirmation: { title: 'Write?' } });
    const fixture = await AutomationFixture.open({ tools: [tool] });
    await fixture.create();
    const run = await fixture.run();
    const { turn, finish } = await fixture.agent.turn(0);
    const called = turn.callTool({ name: 'write', input: { text: 'x' } });
    await settle(20);
    const { primarySession = '', lifecycle } = await fixture.state(run);
    expect(lifecycle.status).toBe('running');
    expect(tool.runs).toEqual([]);
    const { inputNeeded = [] } = await fixture.session(primarySession);
    expect(inputNeeded).toMatchObject([{ kind: 'toolConfirmation' }]);
    const chat = (await fixture.session(primarySession)).defaultChat ?? '';
    const { activeTurn } = await fixture.chat(primarySession);
    const part = activeTurn?.responseParts.find(({ kind }) => kind === 'toolCall');
    const toolCallId = part?.kind === 'toolCall' ? part.toolCall.toolCallId : '';
    const yes = {
      type: 'chat/toolCallConfirmed',
      turnId: activeTurn?.id,
      toolCallId,
      approved: true,
      confirmed: 'user-action',
    };
    expect(await fixture.refusal(yes, chat)).toBeUndefined();
    await called;
    expect(tool.runs).toHaveLength(1);
    finish();
    await fixture.until(run, 'completed');
  });

  it('[AUT-015] ends with its session, when somebody disposes that', async () => {
    const fixture = await AutomationFixture.open();
    await fixture.create();
    const run = await fixture.run();
    await fixture.agent.turn(0);
    const { primarySession } = await fixture.until(run, 'running');
    await fixture.client.request('disposeSession', { channel: primarySession });
    await settle(20);
    const state = await fixture.state(run);
    expect(state).toMatchObject({
      sessions: [],
      lifecycle: { status: 'cancelled', error: { errorType: 'session-disposed' } },
    });
    expect(state.primarySession).toBeUndefined();
  });

  it('[AUT-015] keeps its outcome when its session is disposed later', async () => {
    const fixture = await AutomationFixture.open();
    await fixture.create();
    const run = await fixture.run();
    (await fixture.agent.turn(0)).finish();
    const { primarySession } = await fixture.until(run, 'completed');
    await fixture.client.request('disposeSession', { channel: primarySession });
    await settle(20);
    expect(await fixture.state(run)).toMatchObject({ sessions: [], lifecycle: { status: 'completed' } });
  });

  it('[AUT-016] is the only one of its automation', async () => {
    const fixture = await AutomationFixture.open();
    await fixture.create();
    const run = await fixture.run();
    const params = { ...fetch(), requestId: 'other' };
    const { error } = await fixture.client.ask('runAutomation', params);
    expect(error).toMatchObject({ code: -32004 });
    expect(error?.message).toContain(run);
    (await fixture.agent.turn(0)).finish();
    await fixture.until(run, 'completed');
    expect((await fixture.client.ask('runAutomation', params)).error).toBeUndefined();
  });

  it('[AUT-017] shows the newest runs, more on request, and keeps so many', { timeout: 30_000 }, async () => {
    const fixture = await AutomationFixture.open();
    await fixture.create({ session: { provider: 'puppet', workingDirectories: ['file:///no/such/folder'] } });
    const made: string[] = [];
    for (let index = 0; index < RUN_HISTORY_LIMIT + 2; index += 1) {
      made.unshift(await fixture.run());
      await fixture.until(made[0] ?? '', 'failed');
    }
    const uris = async () => (await fixture.runs()).map(({ resource }) => resource);
    expect(await uris()).toEqual(made.slice(0, RUNS_PAGE));
    const { runsNextCursor } = await fixture.entry();
    await fixture.client.request('fetchAutomationRuns', fetch(runsNextCursor));
    expect(await uris()).toEqual(made.slice(0, 2 * RUNS_PAGE));
    await fixture.client.request('fetchAutomationRuns', fetch());
    expect(await uris()).toEqual(made.slice(0, 3 * RUNS_PAGE));
    for (let page = 3; page < 7; page += 1) await fixture.client.request('fetchAutomationRuns', fetch());
    expect(await uris()).toEqual(made.slice(0, RUN_HISTORY_LIMIT));
    expect((await fixture.entry()).runsNextCursor).toBeUndefined();
    const forgotten = { channel: made.at(-1) };
    expect((await fixture.client.ask('subscribe', forgotten)).error?.code).toBe(-32008);
    expect((await fixture.client.ask('fetchAutomationRuns', fetch('x'))).error?.code).toBe(-32602);
    const before = await fixture.entries();
    const again = await fixture.crash();
    expect(await again.entries()).toEqual(before);
    expect((await again.client.ask('subscribe', forgotten)).error?.code).toBe(-32008);
  });

  it('[AUT-018] that a crash cut off has failed, and is not started again', async () => {
    const fixture = await AutomationFixture.open();
    await fixture.create();
    const run = await fixture.run();
    const { turn } = await fixture.agent.turn(0);
    turn.text('so far');
    await fixture.until(run, 'running');
    const again = await fixture.crash();
    const state = await again.state(run);
    expect(state.lifecycle).toMatchObject({ status: 'failed', error: { errorType: 'host-restarted' } });
    expect((await again.chat(state.primarySession)).turns).toMatchObject([{ state: 'error' }]);
    expect(await again.runs()).toEqual([state]);
    await settle(20);
    expect(again.agent.turns).toEqual([]);
    expect((await again.entry()).operations).toContain('run');
  });

  it('[AUT-018] that had not begun when the host died says so, and names the session that there is', async () => {
    const fixture = await AutomationFixture.open();
    await fixture.create();
    fixture.agent.opening = new Promise(() => {});
    const run = await fixture.run();
    await settle(20);
    const again = await fixture.crash();
    const state = await again.state(run);
    expect(state.lifecycle.error?.message).toContain('not sent');
    expect(state.sessions).toHaveLength(1);
    for (let tries = 0; (await again.session(state.sessions[0])).lifecycle !== 'ready'; tries += 1) {
      expect(tries).toBeLessThan(100);
      await settle();
    }
    await settle(20);
    expect(again.agent.turns).toEqual([]);
  });

  it('[AUT-026] that cannot be stored does not happen', async () => {
    const log = new FailingLog();
    const fixture = await AutomationFixture.open({ log });
    await fixture.create();
    log.isFull = true;
    const params = { ...fetch(), requestId: 'r' };
    expect((await fixture.client.ask('runAutomation', params)).error).toBeDefined();
    log.isFull = false;
    await settle(20);
    expect(fixture.agent.openings).toEqual([]);
    expect(await fixture.runs()).toEqual([]);
    const run = await fixture.run('r');
    (await fixture.agent.turn(0)).finish();
    expect((await fixture.until(run, 'completed')).resource).toBe(run);
  });

  it('[AUT-026] whose start cannot be stored has failed, as soon as that can be', async () => {
    const log = new FailingLog();
    const fixture = await AutomationFixture.open({ log });
    await fixture.create();
    let open = () => {};
    fixture.agent.opening = new Promise((resolve) => {
      open = resolve;
    });
    const run = await fixture.run();
    await settle(20);
    log.isFull = true;
    open();
    await fixture.clock.advance(5_000);
    log.isFull = false;
    await fixture.clock.advance(5_000);
    const again = await fixture.crash();
    expect(fixture.agent.turns.length + again.agent.turns.length).toBe(0);
    expect((await again.state(run)).lifecycle).toMatchObject({ status: 'failed', error: { errorType: 'not-stored' } });
  });

  it('[AUT-019] [UP-215] [UP-233] shows in older clients as a session with a notice of the host', async () => {
    const fixture = await AutomationFixture.open();
    await fixture.create();
    const run = await fixture.run();
    (await fixture.agent.turn(0)).finish();
    const { primarySession = '' }: AutomationRunState = await fixture.until(run, 'completed');
    const chat = (await fixture.session(primarySession)).defaultChat ?? '';
    const older = await nativeClient(fixture.host, 'old', { protocolVersions: ['0.7.0'] });
    expect(await older.state(primarySession)).not.toHaveProperty('origin');
    expect(await older.state(chat)).toMatchObject({ turns: [{ message: { origin: { kind: 'systemNotification' } } }] });
    const oldest = await fixture.host.client('oldest');
    expect(await oldest.state(primarySession)).toMatchObject({
      turns: [{ userMessage: { text: definition().message.text } }],
    });
  });
});

describe('runs of several automations', () => {
  const NAMES = ['a', 'b', 'c', 'd'].map((name) => `ahp-automation:/${name}`);

  async function started(count: number, options: object = {}) {
    const fixture = await AutomationFixture.open(options);
    for (const name of NAMES.slice(0, count)) await fixture.create({}, name);
    const runs: string[] = [];
    for (const name of NAMES.slice(0, count)) runs.push(await fixture.run(undefined, name));
    await settle(20);
    const statuses = () => Promise.all(runs.map(async (run) => (await fixture.state(run)).lifecycle.status));
    return { fixture, runs, statuses };
  }

  it('[AUT-044] work so many at once, and the others in the order in which they came', async () => {
    const { fixture, statuses } = await started(4, { automations: { runsAtOnce: 2 } });
    expect(await statuses()).toEqual(['running', 'running', 'pending', 'pending']);
    (await fixture.agent.turn(1)).finish();
    await fixture.agent.turn(2);
    await settle(20);
    expect(await statuses()).toEqual(['running', 'completed', 'running', 'pending']);
    (await fixture.agent.turn(0)).fail(new Error('It broke.'));
    await fixture.agent.turn(3);
    await settle(20);
    expect(await statuses()).toEqual(['failed', 'completed', 'running', 'running']);
  });

  it('[AUT-044] never begin when they are stopped before, and then hold up no other', async () => {
    const { fixture, runs, statuses } = await started(3, { automations: { runsAtOnce: 1 } });
    await fixture.client.request('subscribe', { channel: runs[1] });
    expect(await fixture.refusal({ type: 'automationRun/cancelRequested' }, runs[1])).toBeUndefined();
    (await fixture.agent.turn(0)).finish();
    await fixture.agent.turn(1);
    await settle(20);
    expect(await statuses()).toEqual(['completed', 'cancelled', 'running']);
    expect(fixture.agent.turns).toHaveLength(2);
  });

  it('[AUT-044] do not wait for one that waits for a person', async () => {
    const { fixture, statuses } = await started(2, {
      automations: { runsAtOnce: 1 },
      tools: [echoTool('echo', { confirmation: { title: 'Echo?' } })],
    });
    const { turn } = await fixture.agent.turn(0);
    expect(await statuses()).toEqual(['running', 'pending']);
    turn.callTool({ name: 'echo', input: { text: 'x' } }).catch(() => {});
    await fixture.agent.turn(1);
    await settle(20);
    expect(await statuses()).toEqual(['running', 'running']);
  });

  it('[AUT-044] [AUT-018] that still wait when the host dies have failed, and say so', async () => {
    const { fixture, runs } = await started(2, { automations: { runsAtOnce: 1 } });
    const again = await fixture.crash();
    const states = await Promise.all(runs.map((run) => again.state(run)));
    expect(states.map(({ lifecycle }) => lifecycle.status)).toEqual(['failed', 'failed']);
    expect(states[1]?.lifecycle.error?.message).toContain('not sent');
    await settle(20);
    expect(again.agent.turns).toEqual([]);
    await again.run(undefined, NAMES[1]);
    await again.agent.turn(0);
  });

  class ResumingPuppet extends PuppetAgent {
    override readonly abilities = { ...new PuppetAgent().abilities, resume: true };
  }

  async function resumed() {
    const agent = new ResumingPuppet('resuming');
    const fixture = await AutomationFixture.open({ agents: [agent] });
    await fixture.create({ session: { provider: 'resuming' } });
    const run = await fixture.run();
    (await agent.turn(0)).fail(new AgentError('overloaded', 'Too busy.'));
    const { sessions } = await fixture.until(run, 'failed');
    const chat = defaultChatUri(sessions[0] ?? '');
    const [failed] = (await fixture.chat(sessions[0])).turns;
    await fixture.client.request('subscribe', { channel: chat });
    expect(await fixture.refusal({ type: 'chat/turnResume', turnId: failed?.id }, chat)).toBeUndefined();
    const { finish } = await agent.turn(1);
    const { lifecycle } = await fixture.until(run, 'running');
    expect(Object.keys(lifecycle).sort()).toEqual(['createdAt', 'startedAt', 'status']);
    return { fixture, agent, run, finish };
  }

  it('[AUT-045] that failed go on with their turn, and end as it does', async () => {
    const { fixture, run, finish } = await resumed();
    await fixture.clock.advance(5_000);
    finish();
    const done = await fixture.until(run, 'completed');
    expect(done.lifecycle).toMatchObject({ completedAt: new Date(fixture.clock.now()).toISOString() });
    expect(done.lifecycle.error).toBeUndefined();
    expect(await fixture.runs()).toEqual([done]);
    const again = await fixture.crash();
    expect((await again.state(run)).lifecycle).toEqual(done.lifecycle);
  });

  it('[AUT-045] that go on when the host dies have failed again', async () => {
    const { fixture, run } = await resumed();
    const again = await fixture.crash();
    expect((await again.state(run)).lifecycle).toMatchObject({
      status: 'failed',
      error: { errorType: 'host-restarted' },
    });
  });

  it('[AUT-045] [AUT-006] that go on are stopped with their automation', async () => {
    const { fixture, agent } = await resumed();
    fixture.client.dispatch(AUTOMATIONS_CHANNEL, { type: 'automation/removed', resource: AUTOMATION } as never);
    await settle(20);
    expect(agent.turns[1]?.turn.signal.aborted).toBe(true);
  });
});
