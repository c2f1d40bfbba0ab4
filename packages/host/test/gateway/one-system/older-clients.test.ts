/** A client of the oldest wire beside providers: it sees what they do, in the words that it has. */
import { describe, expect, it } from 'vitest';
import { pair } from '../../support/provider-door.js';
import { answerNext, tool } from '../../support/provider-room.js';
import { openPuppetRoom, openRoom, type Room, turnStarted } from '../../support/session-room.js';
import { comparableSessionsV1, type SessionsV1Client, sessionsV1Client } from '../../support/sessions-v1-client.js';
import { settle } from '../../support/test-host.js';
import { TestProvider } from '../../support/test-provider.js';

const V1_ACTIONS = new Set(
  [
    ...['ready', 'creationFailed', 'titleChanged', 'modelChanged', 'turnStarted', 'delta', 'reasoning', 'responsePart'],
    ...['toolStart', 'toolComplete', 'permissionRequest', 'permissionResolved', 'usage', 'turnComplete'],
    ...['turnCancelled', 'error'],
  ].map((name) => `session/${name}`),
);

function nameOf({ uri }: Room): string {
  return uri.replace('ahp-session:', 'puppet:');
}

/** Somebody with an old client joins the session. */
async function phoneIn(room: Room): Promise<SessionsV1Client> {
  const phone = await sessionsV1Client(room.host, 'phone');
  await phone.subscribe(nameOf(room));
  return phone;
}

function actions(phone: SessionsV1Client, room: Room): object[] {
  return phone.envelopes(nameOf(room)).map(({ action }) => action);
}

/** Whoever has followed sees what whoever comes now is shown. */
async function expectInStep(phone: SessionsV1Client, room: Room): Promise<void> {
  const fresh = await sessionsV1Client(room.host, `fresh-${crypto.randomUUID()}`);
  const { state } = await fresh.subscribe(nameOf(room));
  expect(phone.mirror(nameOf(room))).toEqual(comparableSessionsV1(state));
}

describe('sessions-v1 and providers', () => {
  it('[UNI-074] [UNI-077] [UNI-081] shows the calls of their tools, not the tools, nor what goes on inside', async () => {
    const room = await openPuppetRoom();
    const phone = await phoneIn(room);
    const provider = await TestProvider.bound(room.host, { name: 'browser', tools: [tool('screenshot')] });
    const outcome = room.puppet.turn.callTool({ id: 'c1', name: 'screenshot', input: {} });
    const { id } = await provider.next('tool.call');
    provider.send({ type: 'tool.progress', id, message: 'half' });
    await settle();
    provider.send({ type: 'tool.result', id, data: 'done' });
    await outcome;
    await settle();
    expect(actions(phone, room)).toMatchObject([
      {
        type: 'session/toolStart',
        toolCall: { toolCallId: 'c1', displayName: 'browser: screenshot', status: 'running' },
      },
      { type: 'session/toolComplete', toolCallId: 'c1', result: { success: true, toolOutput: 'done' } },
    ]);
    await expectInStep(phone, room);
  });

  it('[UNI-075] shows a denied call as one that failed, and who blocked it', async () => {
    const room = await openPuppetRoom();
    const phone = await phoneIn(room);
    const rule = { match: { tool: 'deploy' }, action: 'deny', reason: 'not on Fridays' };
    const hello = { name: 'ci-watcher', tools: [tool('deploy')], hooks: { onPreToolUse: [rule] } };
    await TestProvider.bound(room.host, hello);
    await room.puppet.turn.callTool({ id: 'c1', name: 'deploy', input: {} });
    await settle();
    const result = {
      success: false,
      pastTenseMessage: 'Blocked by ci-watcher: not on Fridays',
      error: { code: 'denied', message: 'ci-watcher: not on Fridays' },
    };
    expect(actions(phone, room)).toMatchObject([
      { type: 'session/toolStart', toolCall: { toolCallId: 'c1', status: 'running' } },
      { type: 'session/toolComplete', toolCallId: 'c1', result },
    ]);
    await expectInStep(phone, room);
    room.puppet.finish();
    await phone.action('session/turnComplete');
    await expectInStep(phone, room);
  });

  it('[UNI-076] asks about a stranger as about an MCP server, and takes the answer', async () => {
    const room = await openPuppetRoom();
    const phone = await phoneIn(room);
    const { provider } = await pair(room);
    await provider.hello({ name: 'browser', tools: [tool('screenshot')] });
    const outcome = room.puppet.turn.callTool({ id: 'c1', name: 'screenshot', input: {} });
    const { action } = await phone.action('session/permissionRequest');
    expect(action).toMatchObject({
      request: { permissionKind: 'mcp', serverName: 'browser', toolName: 'screenshot', toolCallId: 'c1' },
    });
    const { requestId } = (action as { request: { requestId: string } }).request;
    const answer = { type: 'session/permissionResolved', session: nameOf(room), turnId: 't1' };
    phone.dispatch({ ...answer, requestId, approved: true });
    await answerNext(provider);
    expect(await outcome).toMatchObject({ success: true });
    room.puppet.finish();
    await phone.action('session/turnComplete');
    await expectInStep(phone, room);
  });

  it('[UNI-078] shows news as text in the running turn, or at the head of the next', async () => {
    const room = await openRoom({ session: { provider: 'puppet' } });
    const phone = await phoneIn(room);
    const provider = await TestProvider.bound(room.host, { name: 'ci' });
    provider.send({ type: 'push', level: 'surface', event: 'built' });
    await settle();
    expect(actions(phone, room)).toEqual([]);
    room.desk.dispatch(room.uri, turnStarted('t1'));
    await room.agent.turn(0);
    await room.clock.advance(1_000);
    provider.send({ type: 'push', level: 'surface', event: 'deployed' });
    await settle();
    const shown = actions(phone, room).filter((action) => 'part' in action);
    expect(shown).toMatchObject([
      { type: 'session/responsePart', part: { kind: 'markdown', content: '※ ci: built' } },
      { type: 'session/responsePart', part: { kind: 'markdown', content: '※ ci: deployed' } },
    ]);
    await expectInStep(phone, room);
  });

  it('[UNI-057] [UNI-079] [UNI-080] shows an inject when it starts, and says in the text whose it is', async () => {
    const room = await openPuppetRoom();
    const phone = await phoneIn(room);
    const provider = await TestProvider.bound(room.host, { name: 'ci-watcher' });
    provider.send({ type: 'push', level: 'inject', stream: 'builds', event: 'CI failed' });
    await settle();
    expect(actions(phone, room)).toEqual([]);
    room.puppet.finish();
    (await room.agent.turn(1)).finish();
    await settle();
    provider.send({ type: 'push', level: 'inject', prompt: 'Look at the failing test.' });
    await room.agent.turn(2);
    await settle();
    const started = actions(phone, room).filter(({ type }: { type?: string }) => type === 'session/turnStarted');
    expect(started).toMatchObject([
      { userMessage: { text: '[ci-watcher] CI failed' } },
      { userMessage: { text: '[ci-watcher] Look at the failing test.' } },
    ]);
    expect(JSON.stringify(started)).not.toContain('_meta');
    await expectInStep(phone, room);
  });

  it('[UNI-085] gets no action that it does not know, whatever a provider does', async () => {
    const room = await openPuppetRoom();
    const phone = await phoneIn(room);
    const rule = { match: { tool: 'b' }, action: 'deny', reason: 'no' };
    const hello = { name: 'ci', tools: [tool('a'), tool('b')], hooks: { onPreToolUse: [rule] }, context: 'c' };
    const provider = await TestProvider.bound(room.host, hello);
    const id = 'gateway-provider:/ci';
    for (const enabled of [false, true])
      room.desk.dispatch(room.uri, { type: 'session/customizationToggled', id, enabled });
    await settle();
    const outcome = room.puppet.turn.callTool({ name: 'a', input: {} });
    await answerNext(provider);
    await outcome;
    await room.puppet.turn.callTool({ name: 'b', input: {} });
    for (const level of ['keep', 'surface', 'inject']) provider.send({ type: 'push', level, event: 'news' });
    await settle();
    room.puppet.turn.activity('Reading');
    room.puppet.finish();
    (await room.agent.turn(1)).finish();
    await settle();
    provider.drop();
    await room.clock.advance(60_000);
    const types = phone.types(nameOf(room));
    expect(types.length).toBeGreaterThan(6);
    expect(types.filter((type) => !V1_ACTIONS.has(type))).toEqual([]);
    await expectInStep(phone, room);
  });
});
