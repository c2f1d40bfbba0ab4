import { describe, expect, it } from 'vitest';
import { sessionId } from '../../support/gateway-connections.js';
import { SlowLog } from '../../support/logs.js';
import { envelopesOf, openFixture, stateOf } from '../../support/session-fixture.js';
import { settle } from '../../support/test-host.js';
import { TestProvider } from '../../support/test-provider.js';

const TOOL = { name: 'ci_status', description: 'CI', parameters: {} };

const UPDATES = [
  { type: 'tools.update', tools: [TOOL] },
  { type: 'hooks.update', onPreToolUse: [] },
  { type: 'context.update', context: 'c' },
  { type: 'filter.set', stream: 's', rules: [] },
];

describe('an update', () => {
  it('[GW-204] [GW-206] of any kind is acknowledged, and counts', async () => {
    const fixture = await openFixture();
    const provider = await TestProvider.bound(fixture.host);
    for (const [index, update] of UPDATES.entries()) {
      provider.send({ ...update, requestId: `r${index}` });
      expect(await provider.next('ack')).toEqual({
        type: 'ack',
        requestId: `r${index}`,
        sessionId: sessionId(fixture.uri),
        revision: index + 1,
      });
    }
  });

  it('[GW-204] without a request id is taken, and acknowledged without one', async () => {
    const fixture = await openFixture();
    const provider = await TestProvider.bound(fixture.host);
    provider.send(UPDATES[0] ?? {});
    expect(await provider.next('ack')).toEqual({ type: 'ack', sessionId: sessionId(fixture.uri), revision: 1 });
  });

  it('[GW-205] [GW-206] is acknowledged for every session that it is about; each counts for itself', async () => {
    const fixture = await openFixture();
    const uris = [fixture.uri, await fixture.client.session(), await fixture.client.session()];
    const provider = await TestProvider.bound(fixture.host, { session: 'all' });
    const [first = ''] = uris.map(sessionId);
    provider.send({ type: 'context.update', requestId: 'one', sessionId: first, context: 'c' });
    expect(await provider.next('ack')).toMatchObject({ requestId: 'one', sessionId: first, revision: 1 });
    provider.send({ type: 'context.update', requestId: 'all', context: 'c' });
    await settle();
    const acks = provider.of('ack').filter(({ requestId }) => requestId === 'all');
    expect(new Map(acks.map((ack) => [ack.sessionId, ack.revision]))).toEqual(
      new Map(uris.map((uri) => [sessionId(uri), uri === fixture.uri ? 2 : 1])),
    );
  });

  it('[GW-207] [UNI-024] is acknowledged when it is stored and in force', async () => {
    const fixture = await openFixture();
    const provider = await TestProvider.bound(fixture.host);
    provider.send({ type: 'tools.update', requestId: 'r', tools: [TOOL] });
    await provider.next('ack');
    const types = envelopesOf(fixture.client, fixture.uri).map(({ action }) => action.type);
    expect(types).toContain('session/serverToolsChanged');
    expect((await stateOf(fixture.client, fixture.uri)).serverTools).toMatchObject([{ name: 'ci_status' }]);
  });

  it('[GW-207] [UNI-024] is not acknowledged as long as it could still be lost', async () => {
    const log = new SlowLog();
    const fixture = await openFixture({ log });
    const provider = await TestProvider.bound(fixture.host);
    const letThrough = log.hold('append');
    provider.send({ type: 'tools.update', requestId: 'r', tools: [TOOL] });
    await settle(20);
    expect(provider.of('ack')).toEqual([]);
    letThrough();
    expect(await provider.next('ack')).toMatchObject({ requestId: 'r', revision: 1 });
  });

  it('[GW-208] waits for the one before it; another kind does not', async () => {
    const fixture = await openFixture();
    const provider = await TestProvider.bound(fixture.host);
    provider.send({ type: 'tools.update', requestId: 'first', tools: [TOOL] });
    provider.send({ type: 'tools.update', requestId: 'second', tools: [] });
    provider.send({ type: 'context.update', requestId: 'third', context: 'c' });
    await settle();
    expect(provider.of('error')).toMatchObject([{ code: 'RATE_LIMITED', requestId: 'second' }]);
    expect(provider.of('ack').map(({ requestId }) => requestId)).toEqual(['first', 'third']);
    provider.send({ type: 'tools.update', requestId: 'fourth', tools: [] });
    expect(await provider.next('ack')).toBeDefined();
  });

  it('[GW-209] that fails is answered by an error instead, and changes nothing anywhere', async () => {
    const fixture = await openFixture();
    const other = await fixture.client.session();
    await TestProvider.bound(fixture.host, { name: 'owner', session: sessionId(other), tools: [TOOL] });
    const provider = await TestProvider.bound(fixture.host, { session: 'all' });
    provider.send({ type: 'tools.update', requestId: 'r', tools: [TOOL] });
    expect(await provider.next('error')).toMatchObject({
      code: 'TOOL_CONFLICT',
      requestId: 'r',
      replyTo: 'tools.update',
    });
    await settle();
    expect(provider.of('ack')).toEqual([]);
    expect((await stateOf(fixture.client, fixture.uri)).serverTools ?? []).toEqual([]);
    provider.send({ type: 'context.update', requestId: 'next', context: '' });
    expect(await provider.next('ack')).toMatchObject({ revision: 1 });
  });

  it('writes nothing when nothing has changed, and never what is said to the model', async () => {
    const fixture = await openFixture();
    const secret = 'whisper to the model';
    const hooks = {
      onPreToolUse: [{ match: { tool: 'x' }, action: 'context', content: secret }],
      transforms: { tone: { action: 'append', content: secret } },
    };
    const provider = await TestProvider.bound(fixture.host, {
      tools: [TOOL],
      hooks,
      context: secret,
      startup_context: secret,
    });
    await settle();
    const before = envelopesOf(fixture.client, fixture.uri).length;
    for (let count = 0; count < 20; count++) {
      provider.send({ type: 'tools.update', requestId: 'r', tools: [TOOL] });
      await provider.next('ack');
    }
    expect(envelopesOf(fixture.client, fixture.uri).slice(before)).toEqual([]);
    expect(JSON.stringify(fixture.client.received)).not.toContain(secret);
  });
});

describe('a session id', () => {
  it.each([
    { type: 'push', level: 'keep', event: 'e' },
    ...UPDATES,
    { type: 'stream.query', queryId: 'q', streams: ['ci'], last: 1 },
    { type: 'session.ready' },
    { type: 'shutdown.ready' },
  ])('[GW-211] that is not one of its own is refused ($type)', async (message) => {
    const fixture = await openFixture();
    const other = await fixture.client.session();
    // Only those who are bound everywhere may say that they are ready.
    const isEverywhere = message.type === 'session.ready';
    const session = isEverywhere ? 'all' : sessionId(fixture.uri);
    const provider = await TestProvider.bound(fixture.host, { session });
    provider.send({ ...message, sessionId: isEverywhere ? 'nowhere' : sessionId(other) });
    expect(await provider.next('error')).toMatchObject({ code: 'INVALID_SESSION', replyTo: message.type });
  });

  it('[GW-090] is needed to say that one is ready for the end', async () => {
    const fixture = await openFixture();
    const provider = await TestProvider.bound(fixture.host);
    provider.send({ type: 'shutdown.ready' });
    expect(await provider.next('error')).toMatchObject({ code: 'INVALID_JSON', replyTo: 'shutdown.ready' });
  });
});
