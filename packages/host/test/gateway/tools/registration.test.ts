import { TOOLS_PER_PROVIDER_MAX } from '@atrium/protocol/provider';
import { describe, expect, it } from 'vitest';
import { sessionId } from '../../support/gateway-connections.js';
import {
  answerNext,
  call,
  offer,
  offered,
  openProviderFixture,
  refusalTo,
  tool,
  updated,
} from '../../support/provider-fixture.js';
import { openPuppetFixture, stateOf, turnStarted } from '../../support/session-fixture.js';
import { settle } from '../../support/test-host.js';
import { TestProvider } from '../../support/test-provider.js';
import { echoTool } from '../../support/tools.js';

const HELLO = { type: 'hello', name: 'other', protocolVersion: 2 };

describe('tools of a provider', () => {
  it('[GW-093] [UNI-013] are offered with a schema, and clients see whose they are', async () => {
    const parameters = { properties: { branch: { type: 'string' } }, required: ['branch'] };
    const fixture = await openProviderFixture({
      tools: [tool('ci_empty'), tool('ci_run', { parameters, timeout: 500 })],
    });
    expect(offer(fixture, 'ci_empty')?.inputSchema).toEqual({ type: 'object', properties: {} });
    expect(offer(fixture, 'ci_run')).toMatchObject({
      title: 'ci: run',
      description: 'Does ci_run.',
      inputSchema: { type: 'object', ...parameters },
    });
    const { serverTools } = await stateOf(fixture.client, fixture.uri);
    expect(serverTools?.map(({ name, _meta }) => [name, _meta?.gateway])).toEqual([
      ['ci_empty', { provider: 'ci', providerId: expect.stringMatching(/^p-/), trust: 'internal' }],
      ['ci_run', { provider: 'ci', providerId: expect.any(String), trust: 'internal', timeoutMs: 500 }],
    ]);
    expect(await call(fixture, 'ci_run', {})).toMatchObject({ success: false });
    expect(fixture.provider.of('tool.call')).toEqual([]);
  });

  it.each(['__proto__', 'constructor', 'toString'])('may have a schema with any words in it (%s)', async (word) => {
    const parameters = JSON.parse(`{ "properties": { "a": { "type": "${word}" }, "${word}": { "type": "string" } } }`);
    const fixture = await openProviderFixture({ tools: [tool('odd', { parameters })] });
    const input = JSON.parse(`{ "a": 1, "${word}": "x" }`);
    const outcome = call(fixture, 'odd', input);
    const { args } = await answerNext(fixture.provider);
    expect(JSON.stringify(args)).toBe(JSON.stringify(input));
    expect(await outcome).toMatchObject({ success: true });
  });

  it.each(['\u001b[2Jshell', 'she\u200bll', '\u202elleh', 'shell\u2028', 'shell\ud800', 'x'.repeat(129)])(
    'are refused when people cannot see their whole name (%j)',
    async (name) => {
      const fixture = await openProviderFixture();
      const update = { type: 'tools.update', requestId: 'r', tools: [tool('fine'), tool(name)] };
      expect(await refusalTo(fixture.provider, update)).toMatchObject({ code: 'INVALID_JSON', requestId: 'r' });
      expect(offered(fixture)).toEqual([]);
      await updated(fixture.provider, { type: 'tools.update', tools: [tool('grüße.senden'), tool('x'.repeat(128))] });
    },
  );

  it('[GW-093] are refused when their schema is none that clients can read', async () => {
    const fixture = await openPuppetFixture();
    const provider = TestProvider.connect(fixture.host);
    const wrong = [
      { type: 'string' },
      { properties: 5 },
      { properties: { a: 7 } },
      { required: 'a' },
      { required: [1] },
    ];
    for (const parameters of wrong) {
      const refusal = await refusalTo(provider, { ...HELLO, tools: [tool('fine'), tool('wrong', { parameters })] });
      expect(refusal).toMatchObject({ code: 'INVALID_JSON', message: expect.stringContaining('the tool wrong') });
    }
    expect(offered(fixture)).toEqual([]);
  });

  it('[GW-094] [GW-216] are a hundred at most, also in sum', async () => {
    const fixture = await openPuppetFixture();
    const many = (count: number, prefix: string) =>
      Array.from({ length: count }, (_, index) => tool(`${prefix}${index}`));
    const provider = TestProvider.connect(fixture.host);
    const tooMany = await refusalTo(provider, { ...HELLO, tools: many(TOOLS_PER_PROVIDER_MAX + 1, 'a') });
    expect(tooMany).toMatchObject({ code: 'PAYLOAD_TOO_LARGE', replyTo: 'hello' });
    await provider.hello({ tools: many(60, 'a') });
    const update = { type: 'tools.update', requestId: 'r' };
    expect(await refusalTo(provider, { ...update, tools: many(41, 'b') })).toMatchObject({ code: 'PAYLOAD_TOO_LARGE' });
    expect(offered(fixture)).toHaveLength(60);
    await updated(provider, { type: 'tools.update', tools: many(40, 'b') });
    expect(offered(fixture)).toHaveLength(TOOLS_PER_PROVIDER_MAX);
  });

  it('[GW-095] [GW-097] have one owner in a session, and one taken name refuses them all', async () => {
    const fixture = await openProviderFixture({ tools: [tool('status')] });
    const other = TestProvider.connect(fixture.host);
    const refusal = await refusalTo(other, { ...HELLO, tools: [tool('fresh'), tool('status')] });
    expect(refusal).toMatchObject({ code: 'TOOL_CONFLICT', message: expect.stringMatching(/status.*ci/) });
    expect(offered(fixture)).toEqual(['status']);
    other.send({ type: 'push', level: 'keep', event: 'x' });
    expect(await other.next('error')).toMatchObject({
      code: 'UNKNOWN_TYPE',
      message: expect.stringContaining('AwaitHello'),
    });
    const elsewhere = await fixture.client.session(undefined, { provider: 'puppet' });
    await other.hello({ name: 'other', session: sessionId(elsewhere), tools: [tool('status')] });
    expect((await stateOf(fixture.client, elsewhere)).serverTools?.map(({ name }) => name)).toEqual(['status']);
  });

  it('[GW-096] [UNI-025] cannot take the name of a built-in tool or of a tool of the client', async () => {
    const fixture = await openPuppetFixture({ tools: [echoTool('shell')] });
    const activeClient = { clientId: 'desk', tools: [{ name: 'lookup' }] };
    fixture.client.dispatch(fixture.uri, { type: 'session/activeClientChanged', activeClient });
    await fixture.client.action(fixture.uri, 'session/activeClientChanged');
    const provider = TestProvider.connect(fixture.host);
    for (const [name, owner] of [
      ['shell', 'the host'],
      ['lookup', 'the active client'],
    ]) {
      const refusal = await refusalTo(provider, { ...HELLO, tools: [tool(name ?? '')] });
      expect(refusal).toMatchObject({ code: 'TOOL_CONFLICT', message: expect.stringContaining(owner ?? '') });
    }
    await provider.hello({ tools: [tool('search')] });
    const tools = [...activeClient.tools, { name: 'search' }];
    fixture.client.dispatch(fixture.uri, { type: 'session/activeClientToolsChanged', tools });
    await fixture.client.action(fixture.uri, 'session/activeClientToolsChanged');
    expect(offered(fixture)).toEqual(['shell', 'search', 'lookup', 'client_search']);
  });

  it('[GW-098] cannot have names that are kept for the lists of instances', async () => {
    const fixture = await openProviderFixture({ name: 'git' });
    const other = TestProvider.connect(fixture.host);
    for (const name of ['list_git', 'list_git_instances', 'list_git_tabs'])
      expect(await refusalTo(other, { ...HELLO, tools: [tool(name)] })).toMatchObject({ code: 'TOOL_CONFLICT' });
    const own = await refusalTo(other, { ...HELLO, tools: [tool('list_other_instances')] });
    expect(own).toMatchObject({ code: 'TOOL_CONFLICT', message: expect.stringContaining('gateway') });
    await other.hello({ name: 'other', tools: [tool('list_github_x'), tool('list_other_things')] });
    expect(offered(fixture)).toEqual(['list_github_x', 'list_other_things']);
  });

  it('[GW-099] change by name: what is not mentioned stays, and removing comes first', async () => {
    const fixture = await openProviderFixture({ tools: [tool('a'), tool('b'), tool('c')] });
    await updated(fixture.provider, {
      type: 'tools.update',
      tools: [tool('b', { description: 'New.' })],
      remove: ['c', 'b'],
    });
    expect(offered(fixture)).toEqual(['a', 'b']);
    expect(offer(fixture, 'b')?.description).toBe('New.');
  });

  it('[GW-100] change in every session, or in the one that is named', async () => {
    const fixture = await openPuppetFixture();
    const second = await fixture.client.session();
    const provider = await TestProvider.bound(fixture.host, { session: 'all', tools: [tool('a')] });
    const names = async (uri: string) => (await stateOf(fixture.client, uri)).serverTools?.map(({ name }) => name);
    await updated(provider, { type: 'tools.update', sessionId: sessionId(second), tools: [tool('b')] });
    expect([await names(fixture.uri), await names(second)]).toEqual([['a'], ['a', 'b']]);
    provider.send({ type: 'tools.update', requestId: 'r2', tools: [tool('c')] });
    await provider.next('ack');
    await provider.next('ack');
    expect([await names(fixture.uri), await names(second)]).toEqual([
      ['a', 'c'],
      ['a', 'b', 'c'],
    ]);
  });

  it('[GW-101] stay as they were when an update is refused', async () => {
    const fixture = await openProviderFixture({ tools: [tool('a')] });
    await TestProvider.bound(fixture.host, { name: 'other', tools: [tool('taken')] });
    const update = { type: 'tools.update', requestId: 'r9', tools: [tool('b'), tool('taken')], remove: ['a'] };
    expect(await refusalTo(fixture.provider, update)).toMatchObject({ code: 'TOOL_CONFLICT', requestId: 'r9' });
    expect(offered(fixture)).toEqual(['a', 'taken']);
    const outcome = call(fixture, 'a');
    await answerNext(fixture.provider);
    expect(await outcome).toMatchObject({ success: true });
  });

  it('[GW-102] let a call end that began before its tool was removed', async () => {
    const fixture = await openProviderFixture({ tools: [tool('a')] });
    const outcome = call(fixture, 'a');
    const { id } = await fixture.provider.next('tool.call');
    await updated(fixture.provider, { type: 'tools.update', remove: ['a'] });
    fixture.provider.send({ type: 'tool.result', id, data: 'late but welcome' });
    expect(await outcome).toMatchObject({ success: true, text: 'late but welcome' });
    expect(fixture.provider.of('tool.cancel')).toEqual([]);
  });

  it('[GW-103] are gone with their provider, however it goes', async () => {
    for (const leave of [
      (provider: TestProvider) => provider.drop(),
      (provider: TestProvider) => provider.send({ type: 'goodbye' }),
    ]) {
      const fixture = await openProviderFixture({ tools: [tool('a')] });
      leave(fixture.provider);
      await settle();
      expect(offered(fixture)).toEqual([]);
      expect((await stateOf(fixture.client, fixture.uri)).serverTools).toEqual([]);
    }
  });

  it('keep their names for a provider that may still come back', async () => {
    const fixture = await openPuppetFixture();
    const provider = TestProvider.connect(fixture.host);
    const { reconnectToken } = await provider.hello({ tools: [tool('a')] });
    provider.drop();
    await settle();
    const other = TestProvider.connect(fixture.host);
    expect(await refusalTo(other, { ...HELLO, tools: [tool('a')] })).toMatchObject({ code: 'TOOL_CONFLICT' });
    await TestProvider.bound(fixture.host, { reconnectToken });
    expect(offered(fixture)).toEqual(['a']);
  });

  it('are those of the next turn when they change between two turns', async () => {
    const fixture = await openProviderFixture({ tools: [tool('a')] });
    fixture.puppet.finish();
    await fixture.client.action(fixture.uri, 'session/turnComplete');
    await updated(fixture.provider, { type: 'tools.update', tools: [tool('b')], remove: ['a'] });
    fixture.client.dispatch(fixture.uri, turnStarted('t2'));
    const { turn } = await fixture.agent.turn(1);
    expect(turn.tools().map(({ name }) => name)).toEqual(['b']);
  });
});
