import { AgentError } from '@atrium/core/contracts/agent.js';
import type { Log } from '@atrium/core/log/log.js';
import { MemoryLog } from '@atrium/core/log/memory-log.js';
import { CloseCode } from '@atrium/core/wire/transport.js';
import { describe, expect, it } from 'vitest';
import { FakeClock } from '../support/fake-clock.js';
import { dataFolder, openLog } from '../support/log-folders.js';
import { PuppetAgent } from '../support/puppet-agent.js';
import {
  callsIn,
  lastText,
  openFixture,
  openPuppetFixture,
  startHost,
  stateOf,
  textIn,
  turnStarted,
} from '../support/session-fixture.js';
import { ROOT, settle, startTestHost } from '../support/test-host.js';
import { echoTool } from '../support/tools.js';

/** A host on what an earlier one left in the log; the earlier one is just dropped, as by a crash. */
async function restart(log: Log) {
  await settle();
  const agent = new PuppetAgent();
  const host = await startHost({ log, agents: [agent], clock: new FakeClock() });
  return { host, agent, client: await host.client('back') };
}

describe('a host that died in the middle of a turn', () => {
  it('[REL-034] [AHP-172] ends the turn as an error that says so, with everything it had said', async () => {
    const log = new MemoryLog();
    const { client: desktop, uri, puppet } = await openPuppetFixture({ log });
    puppet.turn.text('so far');
    await desktop.action(uri, 'session/delta');
    const { client, agent } = await restart(log);
    const { turns, activeTurn, summary } = await stateOf(client, uri);
    expect(activeTurn).toBeUndefined();
    expect(turns).toMatchObject([{ id: 't1', state: 'error', error: { errorType: 'host-restarted' } }]);
    expect(turns[0]?.error?.message).toContain('stopped');
    expect(textIn(turns[0]?.responseParts)).toBe('so far');
    expect(summary.status & 31).toBe(2);
    await settle();
    expect(agent.turns).toEqual([]);
  });

  it('[REL-034] does not send the message to the agent a second time, but takes the next one', async () => {
    const log = new MemoryLog();
    const { uri } = await openPuppetFixture({ log });
    const { client, agent } = await restart(log);
    await client.request('subscribe', { channel: uri });
    await settle();
    expect(agent.turns).toEqual([]);
    client.dispatch(uri, turnStarted('t2', 'again'));
    (await agent.turn(0)).finish();
    await client.action(uri, 'session/turnComplete');
    expect(agent.turns.map(({ turn }) => turn.message.text)).toEqual(['again']);
    expect((await agent.history(10)).map(({ id, state }) => [id, state])).toEqual([
      ['t1', 'error'],
      ['t2', 'complete'],
    ]);
  });

  it.each<[string, boolean, object]>([
    ['running', false, { status: 'completed', success: false, error: { code: 'INTERRUPTED' } }],
    ['waiting for a person', true, { status: 'cancelled', reasonMessage: expect.stringContaining('never started') }],
  ])('[REL-034] [REL-062] leaves no tool call %s', async (_what, asks, left) => {
    const log = new MemoryLog();
    const tool = echoTool('slow', {
      ...(asks && { confirmation: { title: 'Sure?' } }),
      work: () => new Promise<string>(() => {}),
    });
    const { client: desktop, uri, puppet } = await openPuppetFixture({ log, tools: [tool] });
    puppet.turn.callTool({ name: 'slow', input: {} }).catch(() => {});
    await desktop.action(uri, 'session/toolCallReady');
    const { client } = await restart(log);
    const state = await stateOf(client, uri);
    expect(callsIn(state.turns[0]?.responseParts)).toMatchObject([left]);
    expect(state.summary.status & 31).toBe(2);
  });

  it('[REL-062] keeps what was seen of a call whose input was not complete, and says that it never started', async () => {
    const log = new MemoryLog();
    const { client: desktop, uri, puppet } = await openPuppetFixture({ log, tools: [echoTool('slow')] });
    puppet.turn.beginCall({ name: 'slow' }).delta('{"half":');
    await desktop.action(uri, 'session/toolCallDelta');
    const { client } = await restart(log);
    const { turns } = await stateOf(client, uri);
    const reasonMessage = expect.stringContaining('never started');
    expect(callsIn(turns[0]?.responseParts)).toMatchObject([
      { status: 'cancelled', reason: 'skipped', toolInput: '{"half":', reasonMessage },
    ]);
  });

  it('[REL-062] keeps the output of a call that the agent ran itself, and says that it was interrupted', async () => {
    const log = new MemoryLog();
    const { client: desktop, uri, puppet } = await openPuppetFixture({ log });
    const call = puppet.turn.agentRunCall({ name: 'Bash', displayName: 'Bash' });
    await call.check('make', 'Run make');
    call.progress([{ type: 'text', text: 'compiling' }]);
    await desktop.action(uri, 'session/toolCallContentChanged');
    const { client } = await restart(log);
    const { turns } = await stateOf(client, uri);
    expect(callsIn(turns[0]?.responseParts)).toMatchObject([
      {
        status: 'completed',
        toolInput: 'make',
        pastTenseMessage: 'Interrupted while running: Run make',
        content: [{ type: 'text', text: 'compiling' }],
        error: { code: 'INTERRUPTED', message: expect.stringContaining('may have gone on') },
      },
    ]);
    expect(turns[0]?.error?.message).toContain('interrupted while it ran');
  });

  it('[REL-062] does not release a result to the model that nobody released, and keeps it for people', async () => {
    const log = new MemoryLog();
    const { client: desktop, uri, puppet } = await openPuppetFixture({ log });
    const tools = [{ name: 'look', description: 'Looks.', inputSchema: { type: 'object' as const } }];
    const activeClient = { clientId: 'desk', displayName: 'Desk', tools };
    desktop.dispatch(uri, { type: 'session/activeClientChanged', activeClient });
    await desktop.action(uri, 'session/activeClientChanged');
    puppet.turn.callTool({ id: 'c1', name: 'look', input: {} }).catch(() => {});
    await desktop.action(uri, 'session/toolCallReady');
    const result = {
      success: true,
      pastTenseMessage: 'Looked',
      content: [{ type: 'text' as const, text: 'a secret' }],
    };
    const target = { turnId: 't1', toolCallId: 'c1', requiresResultConfirmation: true };
    desktop.dispatch(uri, { type: 'session/toolCallComplete', ...target, result });
    await desktop.action(uri, 'session/toolCallComplete');
    const { client } = await restart(log);
    const { turns } = await stateOf(client, uri);
    expect(callsIn(turns[0]?.responseParts)).toMatchObject([{ status: 'cancelled', reason: 'result-denied' }]);
    expect(turns[0]?.responseParts.at(-1)).toMatchObject({
      kind: 'systemNotification',
      content: expect.stringContaining('a secret'),
    });
  });

  it('[REL-034] asks no question any more', async () => {
    const log = new MemoryLog();
    const { client: desktop, uri, puppet } = await openPuppetFixture({ log });
    puppet.turn.ask({ id: 'q', message: 'Well?' }).catch(() => {});
    await desktop.action(uri, 'session/inputRequested');
    const { client } = await restart(log);
    expect((await stateOf(client, uri)).inputRequests).toBeUndefined();
  });

  it('[AHP-172] ends it for good: a second restart finds nothing more to end', async () => {
    const log = new MemoryLog();
    const { uri } = await openPuppetFixture({ log });
    const first = await restart(log);
    const before = await stateOf(first.client, uri);
    const second = await restart(log);
    expect(await stateOf(second.client, uri)).toEqual(before);
    expect(await log.records('active:')).toEqual([]);
  });

  it('[AHP-172] frees the role of a client that is not there any more', async () => {
    const log = new MemoryLog();
    const { uri } = await openFixture({ log, session: { activeClient: { clientId: 'desk', tools: [] } } });
    const { client } = await restart(log);
    await client.request('subscribe', { channel: uri });
    const { action } = await client.action(uri, 'session/activeClientChanged');
    expect(action.activeClient).toBeNull();
    expect((await stateOf(client, uri)).activeClient).toBeUndefined();
  });

  it('[AHP-172] tells those who come back what happened while they were away', async () => {
    const log = new MemoryLog();
    const { client: desktop, uri } = await openPuppetFixture({ log });
    const lastSeenServerSeq = Math.max(...desktop.envelopes(uri).map(({ serverSeq }) => serverSeq));
    const { host } = await restart(log);
    const again = host.connect();
    const params = { channel: ROOT, clientId: 'desk', lastSeenServerSeq, subscriptions: [uri] };
    const result = await again.request<{ actions: { action: { type: string } }[] }>('reconnect', params);
    expect(result.actions.map(({ action }) => action.type)).toContain('session/error');
  });
});

describe('a host that died while a session was being created', () => {
  it('goes on creating it, and the session becomes ready', async () => {
    const log = new MemoryLog();
    const stuck = new PuppetAgent();
    stuck.opening = new Promise(() => {});
    const first = await startTestHost({ log, agents: [stuck] });
    const desktop = await first.client('desk');
    await desktop.request('createSession', { channel: 'x:1', provider: 'puppet' });
    const { client, agent } = await restart(log);
    await settle();
    expect((await stateOf(client, 'x:1')).lifecycle).toBe('ready');
    expect(agent.openings).toHaveLength(1);
  });

  it('[REL-034] fails the turn that was sent early, and does not run it', async () => {
    const log = new MemoryLog();
    const stuck = new PuppetAgent();
    stuck.opening = new Promise(() => {});
    const first = await startTestHost({ log, agents: [stuck] });
    const desktop = await first.client('desk');
    await desktop.request('createSession', { channel: 'x:1', provider: 'puppet' });
    await desktop.request('subscribe', { channel: 'x:1' });
    desktop.dispatch('x:1', turnStarted('early'));
    await desktop.action('x:1', 'session/turnStarted');
    const { client, agent } = await restart(log);
    await settle();
    expect(await stateOf(client, 'x:1')).toMatchObject({
      lifecycle: 'ready',
      turns: [{ id: 'early', state: 'error' }],
    });
    expect(agent.turns).toEqual([]);
  });
});

describe('a host that was stopped in good order', () => {
  it('has everything that happened when it is back, and a turn that was cut off ends as an error', async () => {
    const dataDir = dataFolder();
    const first = await startTestHost({ log: await openLog(dataDir) });
    const desktop = await first.client('desk');
    const [quiet, busy] = [await desktop.session(), await desktop.session()];
    for (const text of ['one', 'two']) await desktop.turn(quiet, text);
    desktop.dispatch(quiet, { type: 'session/titleChanged', title: 'Kept' });
    desktop.dispatch(busy, turnStarted('t1', 'slow'));
    await desktop.action(busy, 'session/delta');
    const before = await stateOf(desktop, quiet);
    await first.stop();
    expect(desktop.closed).toMatchObject({ code: CloseCode.GoingAway });

    const { client } = await restart(await openLog(dataDir));
    expect(await stateOf(client, quiet)).toEqual(before);
    expect(await stateOf(client, busy)).toMatchObject({ turns: [{ error: { errorType: 'host-restarted' } }] });
    expect(await client.state(ROOT)).toMatchObject({ activeSessions: 2 });
    await client.turn(quiet, 'hello');
    expect(lastText(await stateOf(client, quiet))).toBe('Hello there');
  });
});

describe('an agent that cannot take up its session', () => {
  it('[REL-035] fails the turn that needed it; all history is kept, and the next turn tries again', async () => {
    const log = new MemoryLog();
    const { client: desktop, uri, puppet } = await openPuppetFixture({ log });
    puppet.turn.text('kept');
    puppet.finish();
    await desktop.action(uri, 'session/turnComplete');
    const before = await stateOf(desktop, uri);
    const { client, agent } = await restart(log);
    agent.opening = Promise.reject(new AgentError('no-such-thread', 'It is gone.'));
    agent.opening.catch(() => {});
    await client.request('subscribe', { channel: uri });
    await client.turn(uri, 'again', 't2');
    const after = await stateOf(client, uri);
    expect(after.turns.slice(0, 1)).toEqual(before.turns);
    expect(after.turns[1]).toMatchObject({ state: 'error', error: { errorType: 'no-such-thread' } });
    expect(after.lifecycle).toBe('ready');
    agent.opening = Promise.resolve();
    client.dispatch(uri, turnStarted('t3'));
    (await agent.turn(0)).finish();
    await client.action(uri, (action) => action.type === 'session/turnComplete');
    expect((await stateOf(client, uri)).turns.map(({ id }) => id)).toEqual(['t1', 't2', 't3']);
  });

  it('[REL-035] keeps the session when the agent is not installed any more', async () => {
    const log = new MemoryLog();
    const { client: desktop, uri, puppet } = await openPuppetFixture({ log });
    puppet.finish();
    await desktop.action(uri, 'session/turnComplete');
    const before = await stateOf(desktop, uri);
    const client = await (await startHost({ log })).client('back');
    expect(await stateOf(client, uri)).toEqual(before);
    await client.turn(uri, 'hello', 't2');
    const { turns } = await stateOf(client, uri);
    expect(turns).toHaveLength(2);
    expect(turns[1]).toMatchObject({ state: 'error', error: { errorType: 'agent-missing' } });
  });
});
