/** A client of the oldest wire beside providers: it sees what they do, in the words that it has. */
import { describe, expect, it } from 'vitest';
import { pair } from '../../support/gateway-connections.js';
import { answerNext, tool } from '../../support/provider-fixture.js';
import { type Fixture, openFixture, openPuppetFixture, turnStarted } from '../../support/session-fixture.js';
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

function nameOf({ uri }: Fixture): string {
  return uri.replace('ahp-session:', 'puppet:');
}

/** Somebody with an old client joins the session. */
async function phoneIn(fixture: Fixture): Promise<SessionsV1Client> {
  const phone = await sessionsV1Client(fixture.host, 'phone');
  await phone.subscribe(nameOf(fixture));
  return phone;
}

function actions(phone: SessionsV1Client, fixture: Fixture): object[] {
  return phone.envelopes(nameOf(fixture)).map(({ action }) => action);
}

/** A client that has followed has the same state as one that subscribes now. */
async function expectInStep(phone: SessionsV1Client, fixture: Fixture): Promise<void> {
  const fresh = await sessionsV1Client(fixture.host, `fresh-${crypto.randomUUID()}`);
  const { state } = await fresh.subscribe(nameOf(fixture));
  expect(phone.mirror(nameOf(fixture))).toEqual(comparableSessionsV1(state));
}

describe('sessions-v1 and providers', () => {
  it('[UNI-074] [UNI-077] [UNI-081] shows the calls of their tools, not the tools, nor what goes on inside', async () => {
    const fixture = await openPuppetFixture();
    const phone = await phoneIn(fixture);
    const provider = await TestProvider.bound(fixture.host, { name: 'browser', tools: [tool('screenshot')] });
    const outcome = fixture.puppet.turn.callTool({ id: 'c1', name: 'screenshot', input: {} });
    const { id } = await provider.next('tool.call');
    provider.send({ type: 'tool.progress', id, message: 'half' });
    await settle();
    provider.send({ type: 'tool.result', id, data: 'done' });
    await outcome;
    await settle();
    expect(actions(phone, fixture)).toMatchObject([
      {
        type: 'session/toolStart',
        toolCall: { toolCallId: 'c1', displayName: 'browser: screenshot', status: 'running' },
      },
      { type: 'session/toolComplete', toolCallId: 'c1', result: { success: true, toolOutput: 'done' } },
    ]);
    await expectInStep(phone, fixture);
  });

  it('[UNI-075] shows a denied call as one that failed, and who blocked it', async () => {
    const fixture = await openPuppetFixture();
    const phone = await phoneIn(fixture);
    const rule = { match: { tool: 'deploy' }, action: 'deny', reason: 'not on Fridays' };
    const hello = { name: 'ci-watcher', tools: [tool('deploy')], hooks: { onPreToolUse: [rule] } };
    await TestProvider.bound(fixture.host, hello);
    await fixture.puppet.turn.callTool({ id: 'c1', name: 'deploy', input: {} });
    await settle();
    const result = {
      success: false,
      pastTenseMessage: 'Blocked by ci-watcher: not on Fridays',
      error: { code: 'denied', message: 'ci-watcher: not on Fridays' },
    };
    expect(actions(phone, fixture)).toMatchObject([
      { type: 'session/toolStart', toolCall: { toolCallId: 'c1', status: 'running' } },
      { type: 'session/toolComplete', toolCallId: 'c1', result },
    ]);
    await expectInStep(phone, fixture);
    fixture.puppet.finish();
    await phone.action('session/turnComplete');
    await expectInStep(phone, fixture);
  });

  it('[UNI-076] asks about a stranger as about an MCP server, and takes the answer', async () => {
    const fixture = await openPuppetFixture();
    const phone = await phoneIn(fixture);
    const { provider } = await pair(fixture);
    await provider.hello({ name: 'browser', tools: [tool('screenshot')] });
    const outcome = fixture.puppet.turn.callTool({ id: 'c1', name: 'screenshot', input: {} });
    const { action } = await phone.action('session/permissionRequest');
    expect(action).toMatchObject({
      request: { permissionKind: 'mcp', serverName: 'browser', toolName: 'screenshot', toolCallId: 'c1' },
    });
    const { requestId } = (action as { request: { requestId: string } }).request;
    const answer = { type: 'session/permissionResolved', session: nameOf(fixture), turnId: 't1' };
    phone.dispatch({ ...answer, requestId, approved: true });
    await answerNext(provider);
    expect(await outcome).toMatchObject({ success: true });
    fixture.puppet.finish();
    await phone.action('session/turnComplete');
    await expectInStep(phone, fixture);
  });

  it('[UNI-078] shows news as text in the running turn, or at the head of the next', async () => {
    const fixture = await openFixture({ session: { provider: 'puppet' } });
    const phone = await phoneIn(fixture);
    const provider = await TestProvider.bound(fixture.host, { name: 'ci' });
    provider.send({ type: 'push', level: 'surface', event: 'built' });
    await settle();
    expect(actions(phone, fixture)).toEqual([]);
    fixture.client.dispatch(fixture.uri, turnStarted('t1'));
    await fixture.agent.turn(0);
    await fixture.clock.advance(1_000);
    provider.send({ type: 'push', level: 'surface', event: 'deployed' });
    await settle();
    const shown = actions(phone, fixture).filter((action) => 'part' in action);
    expect(shown).toMatchObject([
      { type: 'session/responsePart', part: { kind: 'markdown', content: '※ ci: built' } },
      { type: 'session/responsePart', part: { kind: 'markdown', content: '※ ci: deployed' } },
    ]);
    await expectInStep(phone, fixture);
  });

  it('[UNI-057] [UNI-079] [UNI-080] shows an inject when it starts, and says in the text whose it is', async () => {
    const fixture = await openPuppetFixture();
    const phone = await phoneIn(fixture);
    const provider = await TestProvider.bound(fixture.host, { name: 'ci-watcher' });
    provider.send({ type: 'push', level: 'inject', stream: 'builds', event: 'CI failed' });
    await settle();
    expect(actions(phone, fixture)).toEqual([]);
    fixture.puppet.finish();
    (await fixture.agent.turn(1)).finish();
    await settle();
    provider.send({ type: 'push', level: 'inject', prompt: 'Look at the failing test.' });
    await fixture.agent.turn(2);
    await settle();
    const started = actions(phone, fixture).filter(({ type }: { type?: string }) => type === 'session/turnStarted');
    expect(started).toMatchObject([
      { userMessage: { text: '[ci-watcher] CI failed' } },
      { userMessage: { text: '[ci-watcher] Look at the failing test.' } },
    ]);
    expect(JSON.stringify(started)).not.toContain('_meta');
    await expectInStep(phone, fixture);
  });

  it('[UNI-085] gets no action that it does not know, whatever a provider does', async () => {
    const fixture = await openPuppetFixture();
    const phone = await phoneIn(fixture);
    const rule = { match: { tool: 'b' }, action: 'deny', reason: 'no' };
    const hello = { name: 'ci', tools: [tool('a'), tool('b')], hooks: { onPreToolUse: [rule] }, context: 'c' };
    const provider = await TestProvider.bound(fixture.host, hello);
    const id = 'gateway-provider:/ci';
    for (const enabled of [false, true])
      fixture.client.dispatch(fixture.uri, { type: 'session/customizationToggled', id, enabled });
    await settle();
    const outcome = fixture.puppet.turn.callTool({ name: 'a', input: {} });
    await answerNext(provider);
    await outcome;
    await fixture.puppet.turn.callTool({ name: 'b', input: {} });
    for (const level of ['keep', 'surface', 'inject']) provider.send({ type: 'push', level, event: 'news' });
    await settle();
    fixture.puppet.turn.activity('Reading');
    fixture.puppet.finish();
    (await fixture.agent.turn(1)).finish();
    await settle();
    provider.drop();
    await fixture.clock.advance(60_000);
    const types = phone.types(nameOf(fixture));
    expect(types.length).toBeGreaterThan(6);
    expect(types.filter((type) => !V1_ACTIONS.has(type))).toEqual([]);
    await expectInStep(phone, fixture);
  });
});
