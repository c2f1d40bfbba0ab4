import { TOOLS_PER_PROVIDER_MAX } from '@atrium/protocol/provider';
import { describe, expect, it } from 'vitest';
import { sessionId } from '../../support/provider-door.js';
import {
  answerNext,
  call,
  offer,
  offered,
  openProviderRoom,
  refusalTo,
  tool,
  updated,
} from '../../support/provider-room.js';
import { openPuppetRoom, stateOf, turnStarted } from '../../support/session-room.js';
import { settle } from '../../support/test-host.js';
import { TestProvider } from '../../support/test-provider.js';
import { echoTool } from '../../support/tools.js';

const HELLO = { type: 'hello', name: 'other', protocolVersion: 2 };

describe('tools of a provider', () => {
  it('[GW-093] [UNI-013] are offered with a schema, and clients see whose they are', async () => {
    const parameters = { properties: { branch: { type: 'string' } }, required: ['branch'] };
    const room = await openProviderRoom({ tools: [tool('ci_empty'), tool('ci_run', { parameters, timeout: 500 })] });
    expect(offer(room, 'ci_empty')?.inputSchema).toEqual({ type: 'object', properties: {} });
    expect(offer(room, 'ci_run')).toMatchObject({
      title: 'ci: run',
      description: 'Does ci_run.',
      inputSchema: { type: 'object', ...parameters },
    });
    const { serverTools } = await stateOf(room.desk, room.uri);
    expect(serverTools?.map(({ name, _meta }) => [name, _meta?.gateway])).toEqual([
      ['ci_empty', { provider: 'ci', providerId: expect.stringMatching(/^p-/), trust: 'internal' }],
      ['ci_run', { provider: 'ci', providerId: expect.any(String), trust: 'internal', timeoutMs: 500 }],
    ]);
    expect(await call(room, 'ci_run', {})).toMatchObject({ success: false });
    expect(room.provider.of('tool.call')).toEqual([]);
  });

  it.each(['__proto__', 'constructor', 'toString'])('may have a schema with any words in it (%s)', async (word) => {
    const parameters = JSON.parse(`{ "properties": { "a": { "type": "${word}" }, "${word}": { "type": "string" } } }`);
    const room = await openProviderRoom({ tools: [tool('odd', { parameters })] });
    const input = JSON.parse(`{ "a": 1, "${word}": "x" }`);
    const outcome = call(room, 'odd', input);
    const { args } = await answerNext(room.provider);
    expect(JSON.stringify(args)).toBe(JSON.stringify(input));
    expect(await outcome).toMatchObject({ success: true });
  });

  it.each(['\u001b[2Jshell', 'she\u200bll', '\u202elleh', 'shell\u2028', 'shell\ud800', 'x'.repeat(129)])(
    'are refused when people cannot see their whole name (%j)',
    async (name) => {
      const room = await openProviderRoom();
      const update = { type: 'tools.update', requestId: 'r', tools: [tool('fine'), tool(name)] };
      expect(await refusalTo(room.provider, update)).toMatchObject({ code: 'INVALID_JSON', requestId: 'r' });
      expect(offered(room)).toEqual([]);
      await updated(room.provider, { type: 'tools.update', tools: [tool('grüße.senden'), tool('x'.repeat(128))] });
    },
  );

  it('[GW-093] are refused when their schema is none that clients can read', async () => {
    const room = await openPuppetRoom();
    const provider = TestProvider.connect(room.host);
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
    expect(offered(room)).toEqual([]);
  });

  it('[GW-094] [GW-216] are a hundred at most, also in sum', async () => {
    const room = await openPuppetRoom();
    const many = (count: number, prefix: string) =>
      Array.from({ length: count }, (_, index) => tool(`${prefix}${index}`));
    const provider = TestProvider.connect(room.host);
    const tooMany = await refusalTo(provider, { ...HELLO, tools: many(TOOLS_PER_PROVIDER_MAX + 1, 'a') });
    expect(tooMany).toMatchObject({ code: 'PAYLOAD_TOO_LARGE', replyTo: 'hello' });
    await provider.hello({ tools: many(60, 'a') });
    const update = { type: 'tools.update', requestId: 'r' };
    expect(await refusalTo(provider, { ...update, tools: many(41, 'b') })).toMatchObject({ code: 'PAYLOAD_TOO_LARGE' });
    expect(offered(room)).toHaveLength(60);
    await updated(provider, { type: 'tools.update', tools: many(40, 'b') });
    expect(offered(room)).toHaveLength(TOOLS_PER_PROVIDER_MAX);
  });

  it('[GW-095] [GW-097] have one owner in a session, and one taken name refuses them all', async () => {
    const room = await openProviderRoom({ tools: [tool('status')] });
    const other = TestProvider.connect(room.host);
    const refusal = await refusalTo(other, { ...HELLO, tools: [tool('fresh'), tool('status')] });
    expect(refusal).toMatchObject({ code: 'TOOL_CONFLICT', message: expect.stringMatching(/status.*ci/) });
    expect(offered(room)).toEqual(['status']);
    other.send({ type: 'push', level: 'keep', event: 'x' });
    expect(await other.next('error')).toMatchObject({
      code: 'UNKNOWN_TYPE',
      message: expect.stringContaining('AwaitHello'),
    });
    const elsewhere = await room.desk.session(undefined, { provider: 'puppet' });
    await other.hello({ name: 'other', session: sessionId(elsewhere), tools: [tool('status')] });
    expect((await stateOf(room.desk, elsewhere)).serverTools?.map(({ name }) => name)).toEqual(['status']);
  });

  it('[GW-096] [UNI-025] cannot take the name of a built-in tool or of a tool of the client', async () => {
    const room = await openPuppetRoom({ tools: [echoTool('shell')] });
    const activeClient = { clientId: 'desk', tools: [{ name: 'lookup' }] };
    room.desk.dispatch(room.uri, { type: 'session/activeClientChanged', activeClient });
    await room.desk.action(room.uri, 'session/activeClientChanged');
    const provider = TestProvider.connect(room.host);
    for (const [name, owner] of [
      ['shell', 'the host'],
      ['lookup', 'the active client'],
    ]) {
      const refusal = await refusalTo(provider, { ...HELLO, tools: [tool(name ?? '')] });
      expect(refusal).toMatchObject({ code: 'TOOL_CONFLICT', message: expect.stringContaining(owner ?? '') });
    }
    await provider.hello({ tools: [tool('search')] });
    const tools = [...activeClient.tools, { name: 'search' }];
    room.desk.dispatch(room.uri, { type: 'session/activeClientToolsChanged', tools });
    await room.desk.action(room.uri, 'session/activeClientToolsChanged');
    expect(offered(room)).toEqual(['shell', 'search', 'lookup', 'client_search']);
  });

  it('[GW-098] cannot have names that are kept for the lists of instances', async () => {
    const room = await openProviderRoom({ name: 'git' });
    const other = TestProvider.connect(room.host);
    for (const name of ['list_git', 'list_git_instances', 'list_git_tabs'])
      expect(await refusalTo(other, { ...HELLO, tools: [tool(name)] })).toMatchObject({ code: 'TOOL_CONFLICT' });
    const own = await refusalTo(other, { ...HELLO, tools: [tool('list_other_instances')] });
    expect(own).toMatchObject({ code: 'TOOL_CONFLICT', message: expect.stringContaining('gateway') });
    await other.hello({ name: 'other', tools: [tool('list_github_x'), tool('list_other_things')] });
    expect(offered(room)).toEqual(['list_github_x', 'list_other_things']);
  });

  it('[GW-099] change by name: what is not mentioned stays, and removing comes first', async () => {
    const room = await openProviderRoom({ tools: [tool('a'), tool('b'), tool('c')] });
    await updated(room.provider, {
      type: 'tools.update',
      tools: [tool('b', { description: 'New.' })],
      remove: ['c', 'b'],
    });
    expect(offered(room)).toEqual(['a', 'b']);
    expect(offer(room, 'b')?.description).toBe('New.');
  });

  it('[GW-100] change in every session, or in the one that is named', async () => {
    const room = await openPuppetRoom();
    const second = await room.desk.session();
    const provider = await TestProvider.bound(room.host, { session: 'all', tools: [tool('a')] });
    const names = async (uri: string) => (await stateOf(room.desk, uri)).serverTools?.map(({ name }) => name);
    await updated(provider, { type: 'tools.update', sessionId: sessionId(second), tools: [tool('b')] });
    expect([await names(room.uri), await names(second)]).toEqual([['a'], ['a', 'b']]);
    provider.send({ type: 'tools.update', requestId: 'r2', tools: [tool('c')] });
    await provider.next('ack');
    await provider.next('ack');
    expect([await names(room.uri), await names(second)]).toEqual([
      ['a', 'c'],
      ['a', 'b', 'c'],
    ]);
  });

  it('[GW-101] stay as they were when an update is refused', async () => {
    const room = await openProviderRoom({ tools: [tool('a')] });
    await TestProvider.bound(room.host, { name: 'other', tools: [tool('taken')] });
    const update = { type: 'tools.update', requestId: 'r9', tools: [tool('b'), tool('taken')], remove: ['a'] };
    expect(await refusalTo(room.provider, update)).toMatchObject({ code: 'TOOL_CONFLICT', requestId: 'r9' });
    expect(offered(room)).toEqual(['a', 'taken']);
    const outcome = call(room, 'a');
    await answerNext(room.provider);
    expect(await outcome).toMatchObject({ success: true });
  });

  it('[GW-102] let a call end that began before its tool was removed', async () => {
    const room = await openProviderRoom({ tools: [tool('a')] });
    const outcome = call(room, 'a');
    const { id } = await room.provider.next('tool.call');
    await updated(room.provider, { type: 'tools.update', remove: ['a'] });
    room.provider.send({ type: 'tool.result', id, data: 'late but welcome' });
    expect(await outcome).toMatchObject({ success: true, text: 'late but welcome' });
    expect(room.provider.of('tool.cancel')).toEqual([]);
  });

  it('[GW-103] are gone with their provider, however it goes', async () => {
    for (const leave of [
      (provider: TestProvider) => provider.drop(),
      (provider: TestProvider) => provider.send({ type: 'goodbye' }),
    ]) {
      const room = await openProviderRoom({ tools: [tool('a')] });
      leave(room.provider);
      await settle();
      expect(offered(room)).toEqual([]);
      expect((await stateOf(room.desk, room.uri)).serverTools).toEqual([]);
    }
  });

  it('keep their names for a provider that may still come back', async () => {
    const room = await openPuppetRoom();
    const provider = TestProvider.connect(room.host);
    const { reconnectToken } = await provider.hello({ tools: [tool('a')] });
    provider.drop();
    await settle();
    const other = TestProvider.connect(room.host);
    expect(await refusalTo(other, { ...HELLO, tools: [tool('a')] })).toMatchObject({ code: 'TOOL_CONFLICT' });
    await TestProvider.bound(room.host, { reconnectToken });
    expect(offered(room)).toEqual(['a']);
  });

  it('are those of the next turn when they change between two turns', async () => {
    const room = await openProviderRoom({ tools: [tool('a')] });
    room.puppet.finish();
    await room.desk.action(room.uri, 'session/turnComplete');
    await updated(room.provider, { type: 'tools.update', tools: [tool('b')], remove: ['a'] });
    room.desk.dispatch(room.uri, turnStarted('t2'));
    const { turn } = await room.agent.turn(1);
    expect(turn.tools().map(({ name }) => name)).toEqual(['b']);
  });
});
