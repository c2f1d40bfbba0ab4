import { PROVIDER_PROTOCOL_VERSION, TOOL_RESULT_MAX_BYTES, ToolErrorCode } from '@atrium/protocol/provider';
import { describe, expect, it } from 'vitest';
import {
  answerNext,
  call,
  callsOf,
  openProviderRoom,
  type ProviderRoom,
  tool,
  typesSince,
} from '../../support/provider-room.js';
import { envelopesOf, runningCall, stateOf } from '../../support/session-room.js';
import { settle } from '../../support/test-host.js';
import { TestProvider } from '../../support/test-provider.js';

const HELLO = { tools: [tool('a'), tool('quick', { timeout: 50 })] };

/** A call that the provider has, and has not answered. */
async function begun(room: ProviderRoom, name = 'a') {
  const outcome = call(room, name);
  return { outcome, ...(await room.provider.next('tool.call')) };
}

async function resultOf(room: ProviderRoom, answer: object) {
  const outcome = call(room, 'a');
  await answerNext(room.provider, answer);
  const last = (await outcome) && (await callsOf(room)).at(-1);
  if (last?.status !== 'completed') throw new Error(`the call is ${last?.status}`);
  return last;
}

describe('a call of a tool', () => {
  it('[GW-112] [UNI-014] goes to the provider, and is an ordinary call of the host for everybody else', async () => {
    const room = await openProviderRoom(HELLO);
    const outcome = call(room, 'a', { x: 1 });
    const request = await answerNext(room.provider, { data: 'yes' });
    expect(request).toEqual({
      type: 'tool.call',
      id: request.id,
      sessionId: room.sessionId,
      tool: 'a',
      args: { x: 1 },
    });
    await outcome;
    const steps = envelopesOf(room.desk, room.uri).map(({ action }) => action);
    const start = steps.find(({ type }) => type === 'session/toolCallStart');
    expect(start).toMatchObject({ toolName: 'a', displayName: 'ci: a', _meta: { gateway: { provider: 'ci' } } });
    expect(start).not.toHaveProperty('toolClientId');
    const calls = steps.map(({ type }) => type).filter((type) => type.startsWith('session/toolCall'));
    expect(calls).toEqual(['session/toolCallStart', 'session/toolCallReady', 'session/toolCallComplete']);
    expect(steps.find(({ type }) => type === 'session/toolCallReady')).toMatchObject({ confirmed: 'not-needed' });
  });

  it('[GW-113] [UNI-026] succeeds with any JSON, as text and for programs', async () => {
    const room = await openProviderRoom(HELLO);
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
      const result = await resultOf(room, { data });
      expect(result).toMatchObject({ success: true, content, pastTenseMessage: 'Used ci: a' });
      expect(result.structuredContent).toEqual(structuredContent);
    }
  });

  it('[GW-114] [UNI-026] fails with each code, and the model hears why', async () => {
    const room = await openProviderRoom(HELLO);
    for (const errorCode of Object.values(ToolErrorCode)) {
      const result = await resultOf(room, { error: `because of ${errorCode}`, errorCode });
      expect(result).toMatchObject({ success: false, error: { code: errorCode, message: `because of ${errorCode}` } });
    }
    const huge = await resultOf(room, { error: 'x'.repeat(1_000_000) });
    expect(huge.error?.message.length).toBeLessThan(20_000);
  });

  it('[GW-115] fails by a code alone, and by a code that nobody knows', async () => {
    const room = await openProviderRoom(HELLO);
    const bare = await resultOf(room, { errorCode: 'CANCELLED', data: 'ignored' });
    expect(bare).toMatchObject({ success: false, error: { code: 'CANCELLED' } });
    const unknown = await resultOf(room, { error: 'moon phase', errorCode: 'MOON' });
    expect(unknown).toMatchObject({ success: false, error: { code: 'INTERNAL', message: 'moon phase' } });
  });

  it('stays open when an answer says nothing, and the provider hears that', async () => {
    const room = await openProviderRoom(HELLO);
    const { id, outcome } = await begun(room);
    room.provider.send({ type: 'tool.result', id });
    expect(await room.provider.next('error')).toMatchObject({ code: 'INVALID_JSON', replyTo: 'tool.result' });
    room.provider.send({ type: 'tool.result', id, data: 'now' });
    expect(await outcome).toMatchObject({ success: true, text: 'now' });
  });

  it('[GW-120] [GW-121] [UNI-016] is cancelled when its time is up: its own time, or a minute', async () => {
    for (const [name, timeoutMs] of [
      ['quick', 50],
      ['a', 60_000],
    ] as const) {
      const room = await openProviderRoom(HELLO);
      const { id, outcome } = await begun(room, name);
      await room.clock.advance(timeoutMs - 1);
      expect(room.provider.of('tool.cancel')).toEqual([]);
      await room.clock.advance(1);
      const cancel = { type: 'tool.cancel', id, sessionId: room.sessionId, reason: 'timeout' };
      expect(room.provider.of('tool.cancel')).toEqual([cancel]);
      expect(await outcome).toMatchObject({ success: false });
      expect((await callsOf(room))[0]).toMatchObject({ status: 'completed', error: { code: 'TIMEOUT' } });
    }
  });

  it('[GW-122] [UNI-016] is cancelled with its turn', async () => {
    const room = await openProviderRoom(HELLO);
    const { id, outcome } = await begun(room);
    room.desk.dispatch(room.uri, { type: 'session/turnCancelled', turnId: 't1' });
    expect(await room.provider.next('tool.cancel')).toMatchObject({
      id,
      sessionId: room.sessionId,
      reason: 'interrupted',
    });
    await expect(outcome).rejects.toThrow();
    expect(room.provider.of('tool.cancel')).toHaveLength(1);
  });

  it('[GW-123] keeps its outcome, whatever the provider says after the cancel', async () => {
    const room = await openProviderRoom(HELLO);
    const { id, outcome } = await begun(room, 'quick');
    await room.clock.advance(50);
    await outcome;
    const count = room.provider.received.length;
    room.provider.send({ type: 'tool.progress', id, message: 'nearly' });
    room.provider.send({ type: 'tool.result', id, data: 'too late' });
    room.provider.send({ type: 'tool.result', id, errorCode: 'CANCELLED' });
    expect(await typesSince(room.provider, count)).toEqual([]);
    expect((await callsOf(room))[0]).toMatchObject({ error: { code: 'TIMEOUT' } });
  });

  it('[GW-124] [GW-228] ends by the first answer only', async () => {
    const room = await openProviderRoom(HELLO);
    const { id, outcome } = await begun(room);
    const count = room.provider.received.length;
    for (const data of ['first', 'second']) room.provider.send({ type: 'tool.result', id, data });
    expect(await outcome).toMatchObject({ text: 'first' });
    room.provider.send({ type: 'tool.result', id, error: 'third' });
    expect(await typesSince(room.provider, count)).toEqual([]);
    expect(await callsOf(room)).toMatchObject([{ success: true, content: [{ text: 'first' }] }]);
  });

  it('[GW-125] [GW-228] fails when the provider is lost, and a late answer on a new line changes nothing', async () => {
    const room = await openProviderRoom();
    const provider = TestProvider.connect(room.host);
    const { reconnectToken } = await provider.hello({ name: 'other', tools: [tool('b')] });
    const outcome = call(room, 'b');
    const { id } = await provider.next('tool.call');
    provider.drop();
    expect(await outcome).toMatchObject({ success: false, text: expect.stringContaining('other went away') });
    expect((await callsOf(room))[0]).toMatchObject({ error: { code: 'DISCONNECTED' } });
    const back = await TestProvider.bound(room.host, { name: 'other', reconnectToken });
    back.send({ type: 'tool.result', id, data: 'after all' });
    await settle();
    expect(back.of('tool.call')).toEqual([]);
    expect(await callsOf(room)).toMatchObject([{ success: false, error: { code: 'DISCONNECTED' } }]);
  });

  it('[GW-127] [UNI-015] [UNI-094] shows its progress, one line at a time and not too many', async () => {
    const room = await openProviderRoom(HELLO);
    const { id, outcome } = await begun(room);
    const shown = () =>
      envelopesOf(room.desk, room.uri)
        .map(({ action }) => action)
        .filter(({ type }) => type === 'session/toolCallContentChanged')
        .map(({ content }) => content);
    const line = (text: string) => [{ type: 'text', text }];
    for (const message of ['10 %', '20 %', '30 %', 'y'.repeat(100_000), '40 %'])
      room.provider.send({ type: 'tool.progress', id, message });
    await settle();
    expect(shown()).toEqual([line('10 %')]);
    await room.clock.advance(250);
    expect(shown()).toEqual([line('10 %'), line('40 %')]);
    expect(await runningCall(room.desk, room.uri, 'running')).toMatchObject({ content: line('40 %') });
    room.provider.send({ type: 'tool.progress', id, message: '50 %' });
    await settle();
    room.provider.send({ type: 'tool.result', id, data: 'done' });
    expect(await outcome).toMatchObject({ success: true, text: 'done' });
    room.provider.send({ type: 'tool.progress', id, message: 'more' });
    await room.clock.advance(1_000);
    expect(shown()).toHaveLength(2);
    expect((await stateOf(room.desk, room.uri)).activeTurn).toBeDefined();
  });

  it('[GW-128] means nothing to a provider that was not asked, or not yet', async () => {
    const room = await openProviderRoom(HELLO);
    const other = await TestProvider.bound(room.host, { name: 'other' });
    const { id, outcome } = await begun(room);
    const counts = [room.provider.received.length, other.received.length];
    room.provider.send({ type: 'tool.result', id: 'nobody-knows', data: 1 });
    other.send({ type: 'tool.result', id, data: 'stolen' });
    expect(await typesSince(room.provider, counts[0] ?? 0)).toEqual([]);
    expect(await typesSince(other, counts[1] ?? 0)).toEqual([]);
    room.provider.send({ type: 'tool.result', id, data: 'mine' });
    expect(await outcome).toMatchObject({ text: 'mine' });
  });

  it('[GW-215] stays open when its answer is too big, and a smaller one ends it', async () => {
    const room = await openProviderRoom(HELLO);
    const { id, outcome } = await begun(room);
    room.provider.send({ type: 'tool.result', id, data: 'x'.repeat(TOOL_RESULT_MAX_BYTES) });
    expect(await room.provider.next('error')).toMatchObject({ code: 'PAYLOAD_TOO_LARGE', replyTo: 'tool.result' });
    room.provider.send({ type: 'tool.result', id, data: 'x'.repeat(TOOL_RESULT_MAX_BYTES - 200) });
    const done = await outcome;
    expect(done).toMatchObject({ success: true });
    expect(done.kind === 'completed' && done.text).toContain('[Cut: it is too long.]');
  });

  it('is cancelled, not answered, when its provider binds anew', async () => {
    const room = await openProviderRoom(HELLO);
    const { outcome } = await begun(room);
    room.provider.send({ type: 'hello', name: 'ci', protocolVersion: PROVIDER_PROTOCOL_VERSION });
    expect(await outcome).toMatchObject({ success: false, text: 'ci has bound anew' });
    expect((await callsOf(room))[0]).toMatchObject({ error: { code: 'CANCELLED' } });
    expect(room.provider.of('tool.cancel')).toEqual([]);
  });
});
