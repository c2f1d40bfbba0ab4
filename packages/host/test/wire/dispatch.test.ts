import { describe, expect, it } from 'vitest';
import { answerTo, openRoom, refusalOf, stateOf } from '../support/session-room.js';
import { ROOT, settle } from '../support/test-host.js';

const title = (text: string) => ({ type: 'session/titleChanged', title: text }) as const;

describe('dispatchAction', () => {
  it('[AHP-033] is never answered; what became of it comes as an action', async () => {
    const { desk, uri } = await openRoom();
    const before = desk.received.length;
    const accepted = desk.dispatch(uri, title('Yes'));
    const refused = desk.dispatch(uri, { type: 'session/turnCancelled', turnId: 'none' });
    const [yes, no] = [await answerTo(desk, uri, accepted), await answerTo(desk, uri, refused)];
    expect(yes.origin).toEqual({ clientId: 'desk', clientSeq: accepted });
    expect(no.origin).toEqual({ clientId: 'desk', clientSeq: refused });
    await settle();
    expect(desk.received.slice(before).filter((message) => 'id' in message)).toEqual([]);
  });

  it('[AHP-034] the members of an envelope stand directly in params', async () => {
    const { desk, uri } = await openRoom();
    desk.dispatch(uri, title('Flat'));
    const { params } = await desk.until(
      ({ params: envelope }) => JSON.stringify(envelope?.action) === JSON.stringify(title('Flat')),
    );
    expect(Object.keys(params ?? {}).sort()).toEqual(['action', 'channel', 'origin', 'serverSeq']);
  });

  it('[AHP-035] the actions of the host have no origin', async () => {
    const { desk, uri } = await openRoom();
    await desk.turn(uri, 'hello');
    const own = desk.envelopes(uri).filter((envelope) => 'origin' in envelope);
    expect(own.map(({ action }) => action.type)).toEqual(['session/turnStarted']);
    expect(desk.envelopes(uri).length).toBeGreaterThan(3);
  });
});

describe('a rejection', () => {
  it('[AHP-112] repeats channel and action, with a number of its own and a reason', async () => {
    const { desk, uri } = await openRoom();
    const action = { type: 'session/turnCancelled', turnId: 'none', extra: { kept: true } };
    const envelope = await answerTo(desk, uri, desk.dispatch(uri, action));
    expect(envelope).toMatchObject({ channel: uri, action, rejectionReason: expect.stringMatching(/\w+/) });
    desk.dispatch(uri, title('Next'));
    expect((await desk.action(uri, 'session/titleChanged')).serverSeq).toBeGreaterThan(envelope.serverSeq);
  });

  it('[AHP-113][REL-018] is seen by its origin only, and nobody sees a change', async () => {
    const { desk, uri, join } = await openRoom();
    const phone = await join('phone');
    const before = await stateOf(phone, uri);
    await refusalOf(desk, uri, { type: 'session/pendingMessageRemoved', kind: 'queued', id: 'none' } as never);
    await settle();
    expect(phone.types(uri)).toEqual([]);
    expect(await stateOf(phone, uri)).toEqual(before);
  });
});

describe('an action that cannot be taken', () => {
  it('[AHP-114] for a channel that does not exist is ignored, without an echo', async () => {
    const { desk } = await openRoom();
    const before = desk.received.length;
    desk.dispatch('ahp-session:/none', title('x'));
    desk.dispatch('ahp-terminal:/none', { type: 'terminal/input' });
    desk.dispatch('', title('x'));
    await settle();
    expect(desk.received).toHaveLength(before);
  });

  it('[AHP-114] does not use its number up', async () => {
    const { desk, uri } = await openRoom();
    const clientSeq = desk.dispatch('ahp-session:/none', title('x'));
    desk.dispatch(uri, title('y'), clientSeq);
    expect((await answerTo(desk, uri, clientSeq)).rejectionReason).toBeUndefined();
  });

  it.each([
    'session/ready',
    'session/delta',
    'session/turnComplete',
    'session/activityChanged',
    'resourceWatch/changed',
    'root/agentsChanged',
    'session/fromTheFuture',
    'toString',
    '',
  ])('[AHP-115] %j is not for clients, and is rejected', async (type) => {
    const { desk, uri } = await openRoom();
    expect(await refusalOf(desk, uri, { type })).toEqual(expect.any(String));
  });

  it.each([
    ['terminal/input', { type: 'terminal/input', data: 'x' }],
    ['root/configChanged', { type: 'root/configChanged', config: {} }],
  ])('[AHP-116] %s does not belong on a session', async (_name, action) => {
    const { desk, uri } = await openRoom();
    expect(await refusalOf(desk, uri, action)).toContain('does not belong');
  });

  it('[AHP-116] a session action does not belong on the root', async () => {
    const { desk } = await openRoom();
    expect(await refusalOf(desk, ROOT, title('x'))).toContain('does not belong');
  });

  it.each([
    ['a missing member', { type: 'session/titleChanged' }],
    ['a member of the wrong type', { type: 'session/titleChanged', title: 5 }],
    ['a wrong type inside', { type: 'session/turnStarted', turnId: 't', userMessage: { text: ['x'] } }],
  ])('[AHP-117] with %s is rejected, and the reason says which', async (_name, action) => {
    const { desk, uri } = await openRoom();
    const before = await stateOf(desk, uri);
    expect(await refusalOf(desk, uri, action)).toMatch(/title|userMessage/);
    expect(await stateOf(desk, uri)).toEqual(before);
  });

  it.each([
    ['no channel', { clientSeq: 1, action: title('x') }],
    ['no number', { channel: 'URI', action: title('x') }],
    ['a number that is text', { channel: 'URI', clientSeq: '1', action: title('x') }],
  ])('[AHP-117] with %s is dropped', async (_name, params) => {
    const { desk, uri } = await openRoom();
    const before = desk.received.length;
    desk.send({ method: 'dispatchAction', params: JSON.parse(JSON.stringify(params).replaceAll('URI', uri)) });
    await settle();
    expect(desk.received).toHaveLength(before);
    expect(await desk.request('ping', { channel: ROOT })).toBeNull();
  });

  it.each([
    ['nothing', undefined],
    ['null', null],
    ['an object without a type', { title: 'x' }],
  ])('[AHP-117] that is %s is rejected: its number can be answered', async (_name, action) => {
    const { desk, uri } = await openRoom();
    desk.send({ method: 'dispatchAction', params: { channel: uri, clientSeq: 71, action } });
    const { params } = await desk.until(({ params }) => (params?.origin as { clientSeq?: number })?.clientSeq === 71);
    expect(params).toMatchObject({ channel: uri, rejectionReason: 'an action is an object with a type' });
  });
});
