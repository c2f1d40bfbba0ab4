import { PROVIDER_PROTOCOL_VERSION, TOOL_RESULT_MAX_BYTES, ToolErrorCode } from '@atrium/protocol/provider';
import { describe, expect, it } from 'vitest';
import {
  answerNext,
  call,
  callsOf,
  openProviderFixture,
  type ProviderFixture,
  tool,
  typesSince,
} from '../../support/provider-fixture.js';
import { envelopesOf, runningCall, stateOf } from '../../support/session-fixture.js';
import { settle } from '../../support/test-host.js';
import { TestProvider } from '../../support/test-provider.js';

const HELLO = { tools: [tool('a'), tool('quick', { timeout: 50 })] };

/** A call that the provider has, and has not answered. */
async function begun(fixture: ProviderFixture, name = 'a') {
  const outcome = call(fixture, name);
  return { outcome, ...(await fixture.provider.next('tool.call')) };
}

async function resultOf(fixture: ProviderFixture, answer: object) {
  const outcome = call(fixture, 'a');
  await answerNext(fixture.provider, answer);
  const last = (await outcome) && (await callsOf(fixture)).at(-1);
  if (last?.status !== 'completed') throw new Error(`the call is ${last?.status}`);
  return last;
}

describe('a call of a tool', () => {
  it('[GW-112] [UNI-014] goes to the provider, and is an ordinary call of the host for everybody else', async () => {
    const fixture = await openProviderFixture(HELLO);
    const outcome = call(fixture, 'a', { x: 1 });
    const request = await answerNext(fixture.provider, { data: 'yes' });
    expect(request).toEqual({
      type: 'tool.call',
      id: request.id,
      sessionId: fixture.sessionId,
      tool: 'a',
      args: { x: 1 },
    });
    await outcome;
    const steps = envelopesOf(fixture.client, fixture.uri).map(({ action }) => action);
    const start = steps.find(({ type }) => type === 'session/toolCallStart');
    expect(start).toMatchObject({ toolName: 'a', displayName: 'ci: a', _meta: { gateway: { provider: 'ci' } } });
    expect(start).not.toHaveProperty('toolClientId');
    const calls = steps.map(({ type }) => type).filter((type) => type.startsWith('session/toolCall'));
    expect(calls).toEqual(['session/toolCallStart', 'session/toolCallReady', 'session/toolCallComplete']);
    expect(steps.find(({ type }) => type === 'session/toolCallReady')).toMatchObject({ confirmed: 'not-needed' });
  });

  it('[GW-113] [UNI-026] succeeds with any JSON, as text and for programs', async () => {
    const fixture = await openProviderFixture(HELLO);
    const text = (of: string) => [{ type: 'text', text: of }];
    const picture = { type: 'embeddedResource', contentType: 'image/png', data: 'aGk=' };
    const cases: [data: unknown, content: unknown, structured: unknown][] = [
      ['plain', text('plain'), undefined],
      [{ ok: true, n: [1] }, text('{"ok":true,"n":[1]}'), { ok: true, n: [1] }],
      [[1, 'two'], text('[1,"two"]'), { value: [1, 'two'] }],
      [null, text('null'), { value: null }],
      [0, text('0'), { value: 0 }],
      ['data:image/png;base64,aGk=', [picture], undefined],
      [{ shot: 'data:image/png;base64,aG\nk=' }, [...text('{"shot":"[image/png]"}'), picture], { shot: '[image/png]' }],
      ['data:text/plain;base64,aGk=', text('data:text/plain;base64,aGk='), undefined],
    ];
    for (const [data, content, structuredContent] of cases) {
      const result = await resultOf(fixture, { data });
      expect(result).toMatchObject({ success: true, content, pastTenseMessage: 'Used ci: a' });
      expect(result.structuredContent).toEqual(structuredContent);
    }
  });

  it('[GW-114] [UNI-026] fails with each code, and the model hears why', async () => {
    const fixture = await openProviderFixture(HELLO);
    for (const errorCode of Object.values(ToolErrorCode)) {
      const result = await resultOf(fixture, { error: `because of ${errorCode}`, errorCode });
      expect(result).toMatchObject({ success: false, error: { code: errorCode, message: `because of ${errorCode}` } });
    }
    const huge = await resultOf(fixture, { error: 'x'.repeat(1_000_000) });
    expect(huge.error?.message.length).toBeLessThan(20_000);
  });

  it('[GW-115] fails by a code alone, and by a code that nobody knows', async () => {
    const fixture = await openProviderFixture(HELLO);
    const bare = await resultOf(fixture, { errorCode: 'CANCELLED', data: 'ignored' });
    expect(bare).toMatchObject({ success: false, error: { code: 'CANCELLED' } });
    const unknown = await resultOf(fixture, { error: 'moon phase', errorCode: 'MOON' });
    expect(unknown).toMatchObject({ success: false, error: { code: 'INTERNAL', message: 'moon phase' } });
  });

  it('stays open when an answer says nothing, and the provider hears that', async () => {
    const fixture = await openProviderFixture(HELLO);
    const { id, outcome } = await begun(fixture);
    fixture.provider.send({ type: 'tool.result', id });
    expect(await fixture.provider.next('error')).toMatchObject({ code: 'INVALID_JSON', replyTo: 'tool.result' });
    fixture.provider.send({ type: 'tool.result', id, data: 'now' });
    expect(await outcome).toMatchObject({ success: true, text: 'now' });
  });

  it('[GW-120] [GW-121] [UNI-016] is cancelled when its time is up: its own time, or a minute', async () => {
    for (const [name, timeoutMs] of [
      ['quick', 50],
      ['a', 60_000],
    ] as const) {
      const fixture = await openProviderFixture(HELLO);
      const { id, outcome } = await begun(fixture, name);
      await fixture.clock.advance(timeoutMs - 1);
      expect(fixture.provider.of('tool.cancel')).toEqual([]);
      await fixture.clock.advance(1);
      const cancel = { type: 'tool.cancel', id, sessionId: fixture.sessionId, reason: 'timeout' };
      expect(fixture.provider.of('tool.cancel')).toEqual([cancel]);
      expect(await outcome).toMatchObject({ success: false });
      expect((await callsOf(fixture))[0]).toMatchObject({ status: 'completed', error: { code: 'TIMEOUT' } });
    }
  });

  it('[GW-122] [UNI-016] is cancelled with its turn', async () => {
    const fixture = await openProviderFixture(HELLO);
    const { id, outcome } = await begun(fixture);
    fixture.client.dispatch(fixture.uri, { type: 'session/turnCancelled', turnId: 't1' });
    expect(await fixture.provider.next('tool.cancel')).toMatchObject({
      id,
      sessionId: fixture.sessionId,
      reason: 'interrupted',
    });
    await expect(outcome).rejects.toThrow();
    expect(fixture.provider.of('tool.cancel')).toHaveLength(1);
  });

  it('[GW-123] keeps its outcome, whatever the provider says after the cancel', async () => {
    const fixture = await openProviderFixture(HELLO);
    const { id, outcome } = await begun(fixture, 'quick');
    await fixture.clock.advance(50);
    await outcome;
    const count = fixture.provider.received.length;
    fixture.provider.send({ type: 'tool.progress', id, message: 'nearly' });
    fixture.provider.send({ type: 'tool.result', id, data: 'too late' });
    fixture.provider.send({ type: 'tool.result', id, errorCode: 'CANCELLED' });
    expect(await typesSince(fixture.provider, count)).toEqual([]);
    expect((await callsOf(fixture))[0]).toMatchObject({ error: { code: 'TIMEOUT' } });
  });

  it('[GW-124] [GW-228] ends by the first answer only', async () => {
    const fixture = await openProviderFixture(HELLO);
    const { id, outcome } = await begun(fixture);
    const count = fixture.provider.received.length;
    for (const data of ['first', 'second']) fixture.provider.send({ type: 'tool.result', id, data });
    expect(await outcome).toMatchObject({ text: 'first' });
    fixture.provider.send({ type: 'tool.result', id, error: 'third' });
    expect(await typesSince(fixture.provider, count)).toEqual([]);
    expect(await callsOf(fixture)).toMatchObject([{ success: true, content: [{ text: 'first' }] }]);
  });

  it('[GW-125] [GW-228] fails when the provider is lost, and a late answer on a new line changes nothing', async () => {
    const fixture = await openProviderFixture();
    const provider = TestProvider.connect(fixture.host);
    const { reconnectToken } = await provider.hello({ name: 'other', tools: [tool('b')] });
    const outcome = call(fixture, 'b');
    const { id } = await provider.next('tool.call');
    provider.drop();
    expect(await outcome).toMatchObject({ success: false, text: expect.stringContaining('other went away') });
    expect((await callsOf(fixture))[0]).toMatchObject({ error: { code: 'DISCONNECTED' } });
    const back = await TestProvider.bound(fixture.host, { name: 'other', reconnectToken });
    back.send({ type: 'tool.result', id, data: 'after all' });
    await settle();
    expect(back.of('tool.call')).toEqual([]);
    expect(await callsOf(fixture)).toMatchObject([{ success: false, error: { code: 'DISCONNECTED' } }]);
  });

  it('[GW-127] [UNI-015] [UNI-094] shows its progress, one line at a time and not too many', async () => {
    const fixture = await openProviderFixture(HELLO);
    const { id, outcome } = await begun(fixture);
    const shown = () =>
      envelopesOf(fixture.client, fixture.uri)
        .map(({ action }) => action)
        .filter(({ type }) => type === 'session/toolCallContentChanged')
        .map(({ content }) => content);
    const line = (text: string) => [{ type: 'text', text }];
    for (const message of ['10 %', '20 %', '30 %', 'y'.repeat(100_000), '40 %'])
      fixture.provider.send({ type: 'tool.progress', id, message });
    await settle();
    expect(shown()).toEqual([line('10 %')]);
    await fixture.clock.advance(250);
    expect(shown()).toEqual([line('10 %'), line('40 %')]);
    expect(await runningCall(fixture.client, fixture.uri, 'running')).toMatchObject({ content: line('40 %') });
    fixture.provider.send({ type: 'tool.progress', id, message: '50 %' });
    await settle();
    fixture.provider.send({ type: 'tool.result', id, data: 'done' });
    expect(await outcome).toMatchObject({ success: true, text: 'done' });
    fixture.provider.send({ type: 'tool.progress', id, message: 'more' });
    await fixture.clock.advance(1_000);
    expect(shown()).toHaveLength(2);
    expect((await stateOf(fixture.client, fixture.uri)).activeTurn).toBeDefined();
  });

  it('[GW-128] means nothing to a provider that was not asked, or not yet', async () => {
    const fixture = await openProviderFixture(HELLO);
    const other = await TestProvider.bound(fixture.host, { name: 'other' });
    const { id, outcome } = await begun(fixture);
    const counts = [fixture.provider.received.length, other.received.length];
    fixture.provider.send({ type: 'tool.result', id: 'nobody-knows', data: 1 });
    other.send({ type: 'tool.result', id, data: 'stolen' });
    expect(await typesSince(fixture.provider, counts[0] ?? 0)).toEqual([]);
    expect(await typesSince(other, counts[1] ?? 0)).toEqual([]);
    fixture.provider.send({ type: 'tool.result', id, data: 'mine' });
    expect(await outcome).toMatchObject({ text: 'mine' });
  });

  it('[GW-215] stays open when its answer is too big, and a smaller one ends it', async () => {
    const fixture = await openProviderFixture(HELLO);
    const { id, outcome } = await begun(fixture);
    fixture.provider.send({ type: 'tool.result', id, data: 'x'.repeat(TOOL_RESULT_MAX_BYTES) });
    expect(await fixture.provider.next('error')).toMatchObject({ code: 'PAYLOAD_TOO_LARGE', replyTo: 'tool.result' });
    fixture.provider.send({ type: 'tool.result', id, data: 'x'.repeat(TOOL_RESULT_MAX_BYTES - 200) });
    const done = await outcome;
    expect(done).toMatchObject({ success: true });
    expect(done.kind === 'completed' && done.text).toContain('[Cut: it is too long.]');
  });

  it('is cancelled, not answered, when its provider binds anew', async () => {
    const fixture = await openProviderFixture(HELLO);
    const { outcome } = await begun(fixture);
    fixture.provider.send({ type: 'hello', name: 'ci', protocolVersion: PROVIDER_PROTOCOL_VERSION });
    expect(await outcome).toMatchObject({ success: false, text: 'ci has bound again' });
    expect((await callsOf(fixture))[0]).toMatchObject({ error: { code: 'CANCELLED' } });
    expect(fixture.provider.of('tool.cancel')).toEqual([]);
  });
});
