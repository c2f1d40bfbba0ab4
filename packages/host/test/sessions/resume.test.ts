/** A turn that was cut off, or failed, goes on in place. */
import { MemoryLog } from '@atrium/core/log/memory-log.js';
import type { ChatState } from '@atrium/protocol/ahp-1';
import { describe, expect, it, onTestFinished } from 'vitest';
import { modelAgent } from '../../../agents/src/model/backend.js';
import { ModelServer, type ServedAnswer } from '../support/model-server.js';
import { chatState, nativeClient, nativeSession, userMessage } from '../support/native-client.js';
import { PuppetAgent } from '../support/puppet-agent.js';
import { refusalOf, startHost } from '../support/session-fixture.js';
import { settle, startTestHost } from '../support/test-host.js';
import { echoTool } from '../support/tools.js';

const started = (turnId: string) => ({ type: 'chat/turnStarted', turnId, message: userMessage('go') });
const resume = (turnId: string) => ({ type: 'chat/turnResume', turnId });

class ResumingPuppet extends PuppetAgent {
  override readonly abilities = { ...new PuppetAgent().abilities, resume: true };
}

/** A turn of an agent that can go on in the middle, and a host that dies in it. */
async function cutOff(agent = new ResumingPuppet()) {
  const log = new MemoryLog();
  const first = await startTestHost({ log, agents: [agent] });
  const desk = await nativeClient(first, 'desk');
  const { uri, chat } = await nativeSession(desk, { provider: 'puppet' });
  desk.dispatch(chat, started('t1'));
  const puppet = await agent.turn(0);
  puppet.turn.text('so far');
  await settle();
  const next = agent instanceof ResumingPuppet ? new ResumingPuppet() : new PuppetAgent();
  const host = await startHost({ log, agents: [next] });
  const client = await nativeClient(host, 'desk-2', { initialSubscriptions: [uri, chat] });
  await settle();
  return { host, client, agent: next, uri, chat, first: puppet.turn };
}

const contents = ({ turns, activeTurn }: ChatState) =>
  (activeTurn ?? turns.at(-1))?.responseParts.map((part) => ('content' in part ? part.content : part.kind));

describe('a turn that the end of its host cut off', () => {
  it('[UP-115] [UP-155] goes on in place: the same turn, its parts, and not its message again', async () => {
    const { client, agent, chat, first } = await cutOff();
    expect(first.soFar).toBeUndefined();
    const failed = await chatState(client, chat);
    expect(failed.turns[0]?.responseParts.at(-1)).toMatchObject({ kind: 'error', resumable: true });
    expect(await refusalOf(client, chat, resume('t1'))).toBeUndefined();
    const { turn, finish } = await agent.turn(0);
    expect([turn.id, turn.message.text]).toEqual(['t1', 'go']);
    expect(turn.soFar).toMatchObject([{ kind: 'markdown', content: 'so far' }]);
    turn.text(', and on');
    finish();
    await client.action(chat, 'chat/turnComplete');
    const after = await chatState(client, chat);
    expect(after.turns).toHaveLength(1);
    expect(after.turns[0]).toMatchObject({ id: 't1', state: 'complete' });
    expect(contents(after)).toEqual(['so far', 'error', ', and on']);
    expect(await refusalOf(client, chat, resume('t1'))).toContain('cannot be resumed');
  });

  it('can be cut off again, and goes on again', async () => {
    const { client, agent, chat, host } = await cutOff();
    await refusalOf(client, chat, resume('t1'));
    const { turn } = await agent.turn(0);
    turn.text('more');
    await settle();
    const last = new ResumingPuppet();
    const again = await startHost({ log: host.log, agents: [last] });
    const phone = await nativeClient(again, 'phone', { initialSubscriptions: [chat] });
    await settle();
    expect(await refusalOf(phone, chat, resume('t1'))).toBeUndefined();
    expect((await last.turn(0)).turn.soFar).toMatchObject([{ content: 'so far' }, { content: 'more' }]);
    expect((await chatState(phone, chat)).turns).toEqual([]);
  });

  it('does not, where the agent cannot', async () => {
    const { client, agent, chat } = await cutOff(new PuppetAgent() as ResumingPuppet);
    const failed = await chatState(client, chat);
    expect(failed.turns[0]?.responseParts.at(-1)).not.toHaveProperty('resumable');
    expect(await refusalOf(client, chat, resume('t1'))).toContain('cannot be resumed');
    expect(agent.turns).toEqual([]);
  });

  it('is seen by older clients after a fresh snapshot', async () => {
    const { client, host, uri, chat } = await cutOff();
    const old = await host.client('old', { protocolVersions: ['0.3.0'], initialSubscriptions: [uri] });
    const seven = await host.client('seven', { protocolVersions: ['0.7.0'], initialSubscriptions: [chat] });
    await refusalOf(client, chat, resume('t1'));
    await old.untilClosed();
    await seven.untilClosed();
    const back = await host.client('old-2', { protocolVersions: ['0.3.0'], initialSubscriptions: [uri] });
    expect(await back.state(uri)).toMatchObject({ turns: [], activeTurn: { id: 't1' } });
  });
});

describe('a turn of a model', () => {
  async function project(log: MemoryLog, answers: ServedAnswer[]) {
    const server = await ModelServer.start(...answers);
    onTestFinished(() => server.stop());
    const models = [{ id: 'm', name: 'M' }];
    const options = { provider: 'model', displayName: 'Model', kind: 'openai-compatible', models, retries: 0 } as const;
    const agents = [modelAgent({ ...options, baseURL: server.url })];
    const tool = echoTool('echo');
    return { server, calls: () => tool.runs.length, options: { log, scripts: [], agents, tools: [tool] } };
  }
  const rolesIn = ({ body }: { readonly body: Record<string, unknown> }) =>
    (body.messages as { role: string }[]).map(({ role }) => role);

  it('[UP-115] that a dying host cut off goes on after its tool calls, and runs none of them twice', async () => {
    const log = new MemoryLog();
    const first = await project(log, [
      { text: ['Looking. '], calls: [{ id: 'c1', name: 'echo', input: { text: 'one' } }] },
      { text: ['Half an ans'], ending: 'hang' },
    ]);
    const dying = await startTestHost(first.options);
    const desk = await nativeClient(dying, 'desk');
    const { uri, chat } = await nativeSession(desk, { provider: 'model' });
    await refusalOf(desk, uri, { type: 'session/configChanged', config: { autoApprove: true } } as { type: string });
    desk.dispatch(chat, started('t1'));
    await desk.action(chat, ({ type, content }) => type === 'chat/delta' && String(content).includes('Half'));
    expect(first.calls()).toBe(1);

    const second = await project(log, [{ text: ['wer, whole.'] }]);
    const host = await startHost(second.options);
    const client = await nativeClient(host, 'phone', { initialSubscriptions: [uri, chat] });
    await settle();
    expect(await refusalOf(client, chat, resume('t1'))).toBeUndefined();
    await client.action(chat, 'chat/turnComplete');
    const state = await chatState(client, chat);
    expect(state.turns).toHaveLength(1);
    expect(contents(state)?.filter((part) => part !== 'error')).toEqual([
      'Looking. ',
      'toolCall',
      'Half an ans',
      'wer, whole.',
    ]);
    const [request] = second.server.requests;
    expect(request && rolesIn(request).filter((role) => role !== 'system')).toEqual([
      'user',
      'assistant',
      'tool',
      'assistant',
      'user',
    ]);
    expect(JSON.stringify(request?.body.messages).match(/"go"/g)).toHaveLength(1);
    expect(second.calls()).toBe(0);
  });

  it('whose request failed goes on with what it knows', async () => {
    const { server, options } = await project(new MemoryLog(), [
      { status: 500, message: 'overloaded' },
      { text: ['Here I am.'] },
    ]);
    const host = await startHost(options);
    const client = await nativeClient(host, 'desk');
    const { chat } = await nativeSession(client, { provider: 'model' });
    client.dispatch(chat, started('t1'));
    await client.action(chat, 'chat/error');
    expect(await refusalOf(client, chat, resume('t1'))).toBeUndefined();
    await client.action(chat, 'chat/turnComplete');
    expect(server.requests.map(rolesIn).map((roles) => roles.filter((role) => role === 'user'))).toEqual([
      ['user'],
      ['user'],
    ]);
    expect(contents(await chatState(client, chat))).toEqual(['error', 'Here I am.']);
  });
});
