import { describe, expect, it } from 'vitest';
import { answerTo, openRoom, refusalOf, stateOf } from '../support/session-room.js';
import { ROOT, settle } from '../support/test-host.js';

const title = (text: string) => ({ type: 'session/titleChanged', title: text }) as const;

describe('dispatchAction', () => {
  it('[AHP-033] is never answered; what became of it comes as an action', async () => {
    const { alice, uri } = await openRoom();
    const before = alice.received.length;
    const accepted = alice.dispatch(uri, title('Yes'));
    const refused = alice.dispatch(uri, { type: 'session/turnCancelled', turnId: 'none' });
    const [yes, no] = [await answerTo(alice, uri, accepted), await answerTo(alice, uri, refused)];
    expect(yes.origin).toEqual({ clientId: 'alice', clientSeq: accepted });
    expect(no.origin).toEqual({ clientId: 'alice', clientSeq: refused });
    await settle();
    expect(alice.received.slice(before).filter((message) => 'id' in message)).toEqual([]);
  });

  it('[AHP-034] the members of an envelope stand directly in params', async () => {
    const { alice, uri } = await openRoom();
    alice.dispatch(uri, title('Flat'));
    const { params } = await alice.until(
      ({ params: envelope }) => JSON.stringify(envelope?.action) === JSON.stringify(title('Flat')),
    );
    expect(Object.keys(params ?? {}).sort()).toEqual(['action', 'channel', 'origin', 'serverSeq']);
  });

  it('[AHP-035] the actions of the host have no origin', async () => {
    const { alice, uri } = await openRoom();
    await alice.turn(uri, 'hello');
    const own = alice.envelopes(uri).filter((envelope) => 'origin' in envelope);
    expect(own.map(({ action }) => action.type)).toEqual(['session/turnStarted']);
    expect(alice.envelopes(uri).length).toBeGreaterThan(3);
  });
});

describe('a rejection', () => {
  it('[AHP-112] repeats channel and action, with a number of its own and a reason', async () => {
    const { alice, uri } = await openRoom();
    const action = { type: 'session/turnCancelled', turnId: 'none', extra: { kept: true } };
    const envelope = await answerTo(alice, uri, alice.dispatch(uri, action));
    expect(envelope).toMatchObject({ channel: uri, action, rejectionReason: expect.stringMatching(/\w+/) });
    alice.dispatch(uri, title('Next'));
    expect((await alice.action(uri, 'session/titleChanged')).serverSeq).toBeGreaterThan(envelope.serverSeq);
  });

  it('[AHP-113][REL-018] is seen by its origin only, and nobody sees a change', async () => {
    const { alice, uri, join } = await openRoom();
    const bob = await join('bob');
    const before = await stateOf(bob, uri);
    await refusalOf(alice, uri, { type: 'session/pendingMessageRemoved', kind: 'queued', id: 'none' } as never);
    await settle();
    expect(bob.types(uri)).toEqual([]);
    expect(await stateOf(bob, uri)).toEqual(before);
  });
});

describe('an action that cannot be taken', () => {
  it('[AHP-114] for a channel that does not exist is ignored, without an echo', async () => {
    const { alice } = await openRoom();
    const before = alice.received.length;
    alice.dispatch('ahp-session:/none', title('x'));
    alice.dispatch('ahp-terminal:/none', { type: 'terminal/input' });
    alice.dispatch('', title('x'));
    await settle();
    expect(alice.received).toHaveLength(before);
  });

  it('[AHP-114] does not use its number up', async () => {
    const { alice, uri } = await openRoom();
    const clientSeq = alice.dispatch('ahp-session:/none', title('x'));
    alice.dispatch(uri, title('y'), clientSeq);
    expect((await answerTo(alice, uri, clientSeq)).rejectionReason).toBeUndefined();
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
    const { alice, uri } = await openRoom();
    expect(await refusalOf(alice, uri, { type })).toEqual(expect.any(String));
  });

  it.each([
    ['terminal/input', { type: 'terminal/input', data: 'x' }],
    ['root/configChanged', { type: 'root/configChanged', config: {} }],
  ])('[AHP-116] %s does not belong on a session', async (_name, action) => {
    const { alice, uri } = await openRoom();
    expect(await refusalOf(alice, uri, action)).toContain('does not belong');
  });

  it('[AHP-116] a session action does not belong on the root', async () => {
    const { alice } = await openRoom();
    expect(await refusalOf(alice, ROOT, title('x'))).toContain('does not belong');
  });

  it.each([
    ['a missing member', { type: 'session/titleChanged' }],
    ['a member of the wrong type', { type: 'session/titleChanged', title: 5 }],
    ['a wrong type inside', { type: 'session/turnStarted', turnId: 't', userMessage: { text: ['x'] } }],
  ])('[AHP-117] with %s is rejected, and the reason says which', async (_name, action) => {
    const { alice, uri } = await openRoom();
    const before = await stateOf(alice, uri);
    expect(await refusalOf(alice, uri, action)).toMatch(/title|userMessage/);
    expect(await stateOf(alice, uri)).toEqual(before);
  });

  it.each([
    ['no channel', { clientSeq: 1, action: title('x') }],
    ['no number', { channel: 'URI', action: title('x') }],
    ['a number that is text', { channel: 'URI', clientSeq: '1', action: title('x') }],
  ])('[AHP-117] with %s is dropped', async (_name, params) => {
    const { alice, uri } = await openRoom();
    const before = alice.received.length;
    alice.send({ method: 'dispatchAction', params: JSON.parse(JSON.stringify(params).replaceAll('URI', uri)) });
    await settle();
    expect(alice.received).toHaveLength(before);
    expect(await alice.request('ping', { channel: ROOT })).toBeNull();
  });

  it.each([
    ['nothing', undefined],
    ['null', null],
    ['an object without a type', { title: 'x' }],
  ])('[AHP-117] that is %s is rejected: its number can be answered', async (_name, action) => {
    const { alice, uri } = await openRoom();
    alice.send({ method: 'dispatchAction', params: { channel: uri, clientSeq: 71, action } });
    const { params } = await alice.until(({ params }) => (params?.origin as { clientSeq?: number })?.clientSeq === 71);
    expect(params).toMatchObject({ channel: uri, rejectionReason: 'an action is an object with a type' });
  });
});
