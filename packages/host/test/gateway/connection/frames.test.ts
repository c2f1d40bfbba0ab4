import { transportPair } from '@atrium/core/wire/transports/in-process.js';
import {
  FATAL_GATEWAY_ERRORS,
  GatewayErrorCode,
  MESSAGE_MAX_BYTES,
  TOOL_RESULT_MAX_BYTES,
} from '@atrium/protocol/provider';
import { describe, expect, it } from 'vitest';
import { MESSAGES_PER_TURN_MAX } from '../../../src/gateway/inbox.js';
import { UNAUTHENTICATED_MESSAGE_MAX_CHARACTERS } from '../../../src/gateway/provider-frame.js';
import { openGateway, overSocket, pair, sessionId } from '../../support/gateway-connections.js';
import { openFixture, openPuppetFixture } from '../../support/session-fixture.js';
import { settle } from '../../support/test-host.js';
import { TestProvider } from '../../support/test-provider.js';

const HELLO = { type: 'hello', name: 'ci', protocolVersion: 2 };

/** Everything that is made up anew each time becomes a word. */
function comparable(messages: readonly unknown[], uri: string): string[] {
  return messages.map((message) =>
    JSON.stringify(message)
      .replaceAll(sessionId(uri), 'SESSION')
      .replaceAll(/(p|tok|ext-tok)-[\da-f-]{20,}/g, '$1')
      .replaceAll(/"ts":"[^"]*"/g, '"ts"')
      .replaceAll(/"id":"[\da-f-]{36}"/g, '"id"'),
  );
}

describe('a frame', () => {
  it.each(['[]', '"x"', '{}', '{"type":5}', '{"type":"hello"', 'null', ''])(
    '[GW-004] that is no message (%s) is answered, and the line stays open',
    async (text) => {
      const { host } = await openFixture();
      const provider = TestProvider.connect(host);
      provider.sendText(text);
      expect(await provider.next('error')).toMatchObject({ code: 'INVALID_JSON' });
      await provider.hello();
    },
  );

  it('[GW-005] may carry members that nobody knows', async () => {
    const { host } = await openFixture();
    const provider = TestProvider.connect(host);
    const ack = await provider.hello({ zzz: {}, hooks: { later: true } });
    expect(ack.providerId).toMatch(/^p-/);
  });

  it('[GW-007] of a later minor version is understood as far as it goes; a major one has a number of its own', async () => {
    const { host } = await openFixture();
    const provider = TestProvider.connect(host);
    // Nothing is agreed upon beforehand: neither the new member nor the new type, nor that there are any.
    const { protocolVersion } = await provider.hello({ minorVersion: 7, capabilities: ['dreams'] });
    expect(protocolVersion).toBe(2);
    provider.send({ type: 'dream', about: 'sheep' });
    expect(await provider.next('error')).toMatchObject({ code: 'UNKNOWN_TYPE', replyTo: 'dream' });
    provider.send({ type: 'push', level: 'keep', event: 'awake', importance: 9 });
    provider.send({ type: 'stream.query', queryId: 'q', streams: ['ci'], last: 1, format: 'tree' });
    expect((await provider.next('stream.history')).streams).toMatchObject({ 'ci@ci': [{ event: 'awake' }] });
    const newer = TestProvider.connect(host);
    newer.send({ ...HELLO, name: 'newer', protocolVersion: 3 });
    expect(await newer.next('error')).toMatchObject({ code: 'UNSUPPORTED_VERSION' });
    expect((await newer.untilClosed()).code).not.toBe(1000);
    expect(provider.closed).toBeUndefined();
  });

  it('[GW-006] of a type that nobody knows is answered once, and the next one works', async () => {
    const { host } = await openFixture();
    const provider = await TestProvider.bound(host);
    provider.send({ type: 'future.thing' });
    provider.send({ type: 'push', level: 'keep', event: 'here' });
    provider.send({ type: 'stream.query', queryId: 'q', streams: ['ci'], last: 1 });
    expect((await provider.next('stream.history')).streams).toMatchObject({ 'ci@ci': [{ event: 'here' }] });
    expect(provider.of('error')).toMatchObject([{ code: 'UNKNOWN_TYPE', replyTo: 'future.thing' }]);
  });

  it('[GW-213] has 2 MB at most, a result 5 MB, and too much is answered', async () => {
    const fixture = await openPuppetFixture();
    const tool = { name: 'ci_status', description: 'CI', parameters: {} };
    const provider = await TestProvider.bound(fixture.host, { tools: [tool] });
    const push = { type: 'push', level: 'keep', event: '' };
    const fixture1 = MESSAGE_MAX_BYTES - JSON.stringify(push).length;
    provider.send({ ...push, event: 'x'.repeat(fixture1) });
    provider.send({ ...push, event: 'x'.repeat(fixture1 + 1) });
    expect(await provider.next('error')).toMatchObject({ code: 'PAYLOAD_TOO_LARGE', replyTo: 'push' });
    const outcome = fixture.puppet.turn.callTool({ name: 'ci_status', input: {} });
    const { id } = await provider.next('tool.call');
    const result = { type: 'tool.result', id, data: '' };
    const fixture2 = TOOL_RESULT_MAX_BYTES - JSON.stringify(result).length;
    provider.send({ ...result, data: 'x'.repeat(fixture2 + 1) });
    expect(await provider.next('error')).toMatchObject({ code: 'PAYLOAD_TOO_LARGE', replyTo: 'tool.result' });
    provider.send({ ...result, data: 'x'.repeat(fixture2) });
    expect(await outcome).toMatchObject({ success: true });
    expect(provider.of('error')).toHaveLength(2);
  });

  it('[GW-214] of more than 16 MB is not read', async () => {
    const { host } = await openFixture();
    const gateway = await openGateway(host);
    const provider = await overSocket(gateway.port);
    provider.sendText('x'.repeat(17 * 2 ** 20));
    expect(await provider.untilClosed()).toMatchObject({ code: 1009 });
  });

  it('[GW-220] of a known type with a wrong shape is not valid JSON either', async () => {
    const { host } = await openFixture();
    const provider = TestProvider.connect(host);
    provider.send({ type: 'hello', protocolVersion: 2 });
    expect(await provider.next('error')).toMatchObject({ code: 'INVALID_JSON', replyTo: 'hello' });
    await provider.hello();
    // Fits its schema and still makes no sense.
    provider.send({ type: 'tool.result', id: 'x' });
    provider.send({ type: 'shutdown.ready' });
    expect(await provider.next('error')).toMatchObject({ code: 'INVALID_JSON', replyTo: 'shutdown.ready' });
  });

  it('keeps its answer short, whatever it asked for', async () => {
    const { host } = await openFixture();
    const provider = TestProvider.connect(host);
    provider.send({ ...HELLO, session: 'x'.repeat(100_000) });
    provider.send({ type: 'y'.repeat(100_000) });
    await provider.next('error');
    await provider.next('error');
    expect(JSON.stringify(provider.of('error')).length).toBeLessThan(2_000);
  });
});

describe('a stranger', () => {
  it('[GW-015] is sent away after ten seconds', async () => {
    const { host, clock } = await openFixture();
    const provider = TestProvider.connect(host, 'network');
    await clock.advance(9_900);
    expect(provider.closed).toBeUndefined();
    await clock.advance(200);
    expect(provider.closed).toMatchObject({ reason: expect.stringContaining('in time') });
  });

  it('[GW-015] is sent away after five messages that it may not send', async () => {
    const { host } = await openFixture();
    const provider = TestProvider.connect(host, 'network');
    for (let count = 0; count < 4; count++) provider.send(HELLO);
    await settle();
    expect(provider.closed).toBeUndefined();
    provider.sendText('?');
    await provider.untilClosed();
    expect(provider.of('error')).toHaveLength(5);
  });

  it('has nothing parsed that is longer than all it could have to say', async () => {
    const { host } = await openFixture();
    const provider = TestProvider.connect(host, 'network');
    provider.send({ type: 'auth', token: 'x'.repeat(UNAUTHENTICATED_MESSAGE_MAX_CHARACTERS) });
    expect(await provider.next('error')).toMatchObject({ code: 'PAYLOAD_TOO_LARGE' });
  });
});

describe('an error', () => {
  it('[GW-217] [GW-219] [GW-087] says what was wrong with which message, and the line goes on', async () => {
    const { host, uri } = await openFixture();
    const provider = TestProvider.connect(host);
    const ack = await provider.hello();
    provider.send({ type: 'tools.update', requestId: 'r1', sessionId: 'nowhere', tools: [] });
    expect(await provider.next('error')).toEqual({
      type: 'error',
      code: 'INVALID_SESSION',
      message: expect.any(String),
      replyTo: 'tools.update',
      providerId: ack.providerId,
      sessionId: 'nowhere',
      requestId: 'r1',
    });
    provider.send({ type: 'tools.update', requestId: 'r2', tools: [] });
    expect(await provider.next('ack')).toEqual({
      type: 'ack',
      requestId: 'r2',
      sessionId: sessionId(uri),
      revision: 1,
    });
  });

  it('[GW-217] [GW-219] of every code but two leaves the line as good as it was', async () => {
    const { host } = await openFixture();
    const tool = (name: string) => ({ name, description: 'x', parameters: {} });
    await TestProvider.bound(host, { name: 'other', tools: [tool('taken')] });
    const provider = await TestProvider.bound(host);
    const many = Array.from({ length: 101 }, (_, index) => tool(`t${index}`));
    const push = { type: 'push', level: 'keep', event: 'x' };
    const mistakes: [GatewayErrorCode, ...object[]][] = [
      ['INVALID_JSON', { type: 'push', level: 'shout', event: 'x' }],
      ['UNKNOWN_TYPE', { type: 'future.thing' }],
      ['INVALID_SESSION', { ...push, sessionId: 'nowhere' }],
      ['TOOL_CONFLICT', { type: 'tools.update', tools: [tool('taken')] }],
      ['PAYLOAD_TOO_LARGE', { type: 'tools.update', tools: many }],
      ['UNAUTHORIZED', { type: 'filter.set', stream: 'x@other', rules: [] }],
      ['RATE_LIMITED', ...Array.from({ length: 11 }, () => push)],
      ['DUPLICATE_INSTANCE', { ...HELLO, name: 'other' }],
    ];
    for (const [code, ...messages] of mistakes) {
      for (const message of messages) provider.send(message);
      const [last] = messages.slice(-1) as { type: string }[];
      expect(await provider.next('error')).toMatchObject({ code, replyTo: last?.type });
      // What was bound is gone with a hello that failed; otherwise nothing is.
      if (code === 'DUPLICATE_INSTANCE') await provider.hello();
      provider.send({ type: 'stream.query', queryId: code, streams: ['ci'], last: 1 });
      expect((await provider.next('stream.history')).queryId).toBe(code);
    }
    const survived = new Set<GatewayErrorCode>(mistakes.map(([code]) => code));
    const fatal = Object.values(GatewayErrorCode).filter((code) => !survived.has(code));
    expect(fatal.sort()).toEqual(['AUTH_FAILED', 'UNSUPPORTED_VERSION']);
  });

  it('[GW-218] [GW-219] has one of ten codes, and two of them end the connection', () => {
    expect(Object.values(GatewayErrorCode)).toHaveLength(10);
    expect([...FATAL_GATEWAY_ERRORS].sort()).toEqual(['AUTH_FAILED', 'UNSUPPORTED_VERSION']);
  });
});

describe('both transports', () => {
  it('[GW-001] [GW-226] carry the same conversation', async () => {
    const transcripts: string[][] = [];
    for (const how of ['in-process', 'socket'] as const) {
      const fixture = await openFixture();
      const via = how === 'socket' ? await overSocket((await openGateway(fixture.host)).port) : undefined;
      const { provider } = await pair(fixture, via);
      await provider.hello({ name: 'browser', tools: [{ name: 'shot', description: 'Takes it.', parameters: {} }] });
      provider.sendText('nonsense');
      provider.send({
        type: 'hooks.update',
        requestId: 'r',
        onPreToolUse: [{ match: {}, action: 'deny', reason: 'x' }],
      });
      provider.send({ type: 'tools.update', requestId: 'r', remove: ['shot'] });
      await provider.next('ack');
      for (let count = 0; count < 5; count++) provider.send({ type: 'push', level: 'keep', event: `${count}` });
      provider.send({ type: 'stream.query', queryId: 'q', streams: ['browser'], last: 10 });
      await provider.next('stream.history');
      await fixture.client.request('disposeSession', { channel: fixture.uri });
      await provider.next('sessions.updated');
      provider.send({ type: 'goodbye' });
      await provider.untilClosed();
      transcripts.push([...comparable(provider.received, fixture.uri), String(provider.closed?.code)]);
    }
    expect(transcripts[0]?.length).toBeGreaterThan(8);
    expect(transcripts[1]).toEqual(transcripts[0]);
  });

  it.each(['in-process', 'socket'] as const)('[GW-226] keep the order (%s)', async (how) => {
    const fixture = await openFixture();
    const provider = how === 'socket' ? await overSocket((await openGateway(fixture.host)).port) : undefined;
    const paired = await pair(fixture, provider);
    await paired.provider.hello({ name: 'browser' });
    for (let count = 0; count < 1_000; count++)
      paired.provider.send({ type: 'stream.query', queryId: `${count}`, streams: ['browser'], last: 1 });
    while (paired.provider.of('stream.history').length < 1_000) await settle(1);
    expect(paired.provider.of('stream.history').map(({ queryId }) => Number(queryId))).toEqual([
      ...Array(1_000).keys(),
    ]);
  });

  it('[GW-226] let everybody finish: a provider that answers at once is not spoken to in the middle of it', async () => {
    const { host } = await openFixture();
    const [transport, end] = transportPair();
    const query = (queryId: string) =>
      end.send(JSON.stringify({ type: 'stream.query', queryId, streams: ['ci'], last: 1 }));
    const heard: string[] = [];
    let depth = 0;
    let deepest = 0;
    end.onmessage = (text) => {
      depth += 1;
      deepest = Math.max(deepest, depth);
      const message = JSON.parse(text);
      if (message.type === 'sessions') end.send(JSON.stringify(HELLO));
      if (message.type === 'hello.ack') for (const name of ['a', 'b', 'c']) query(name);
      if (message.type === 'stream.history') {
        heard.push(message.queryId);
        if (heard.length <= 3) query(`${message.queryId}2`);
      }
      depth -= 1;
    };
    host.host.connectProvider(transport, 'in-process');
    while (heard.length < 6) await settle(1);
    end.send(JSON.stringify({ type: 'goodbye' }));
    expect(heard).toEqual(['a', 'b', 'c', 'a2', 'b2', 'c2']);
    expect(deepest).toBe(1);
  });

  it('let others through while one of them floods', async () => {
    const fixture = await openFixture();
    const flooding = await TestProvider.bound(fixture.host, { name: 'flood' });
    const other = await TestProvider.bound(fixture.host, { name: 'other' });
    for (let count = 0; count < 10_000; count++) flooding.send({ type: 'future.thing' });
    await settle(2);
    other.send({ type: 'stream.query', queryId: 'q', streams: ['other'], last: 1 });
    await other.next('stream.history');
    // A handful of turns of the event loop, with some messages of the flood in each.
    expect(flooding.of('error').length).toBeLessThan(20 * MESSAGES_PER_TURN_MAX);
    while (flooding.of('error').length < 10_000) await settle(10);
  });
});
