import { describe, expect, it } from 'vitest';
import { answerTo, openFixture, refusalOf, stateOf } from '../support/session-fixture.js';
import { ROOT, settle } from '../support/test-host.js';

const title = (text: string) => ({ type: 'session/titleChanged', title: text }) as const;

describe('dispatchAction', () => {
  it('[AHP-033] is never answered; what became of it comes as an action', async () => {
    const { client, uri } = await openFixture();
    const before = client.received.length;
    const accepted = client.dispatch(uri, title('Yes'));
    const refused = client.dispatch(uri, { type: 'session/turnCancelled', turnId: 'none' });
    const [yes, no] = [await answerTo(client, uri, accepted), await answerTo(client, uri, refused)];
    expect(yes.origin).toEqual({ clientId: 'desk', clientSeq: accepted });
    expect(no.origin).toEqual({ clientId: 'desk', clientSeq: refused });
    await settle();
    expect(client.received.slice(before).filter((message) => 'id' in message)).toEqual([]);
  });

  it('[AHP-034] the members of an envelope stand directly in params', async () => {
    const { client, uri } = await openFixture();
    client.dispatch(uri, title('Flat'));
    const { params } = await client.until(
      ({ params: envelope }) => JSON.stringify(envelope?.action) === JSON.stringify(title('Flat')),
    );
    expect(Object.keys(params ?? {}).sort()).toEqual(['action', 'channel', 'origin', 'serverSeq']);
  });

  it('[AHP-035] the actions of the host have no origin', async () => {
    const { client, uri } = await openFixture();
    await client.turn(uri, 'hello');
    const own = client.envelopes(uri).filter((envelope) => 'origin' in envelope);
    expect(own.map(({ action }) => action.type)).toEqual(['session/turnStarted']);
    expect(client.envelopes(uri).length).toBeGreaterThan(3);
  });
});

describe('a rejection', () => {
  it('[AHP-112] repeats channel and action, with a number of its own and a reason', async () => {
    const { client, uri } = await openFixture();
    const action = { type: 'session/turnCancelled', turnId: 'none', extra: { kept: true } };
    const envelope = await answerTo(client, uri, client.dispatch(uri, action));
    expect(envelope).toMatchObject({ channel: uri, action, rejectionReason: expect.stringMatching(/\w+/) });
    client.dispatch(uri, title('Next'));
    expect((await client.action(uri, 'session/titleChanged')).serverSeq).toBeGreaterThan(envelope.serverSeq);
  });

  it('[AHP-113][REL-018] is seen by its origin only, and nobody sees a change', async () => {
    const { client, uri, join } = await openFixture();
    const phone = await join('phone');
    const before = await stateOf(phone, uri);
    await refusalOf(client, uri, { type: 'session/pendingMessageRemoved', kind: 'queued', id: 'none' } as never);
    await settle();
    expect(phone.types(uri)).toEqual([]);
    expect(await stateOf(phone, uri)).toEqual(before);
  });
});

describe('an action that cannot be taken', () => {
  it('[AHP-114] for a channel that does not exist is ignored, without an echo', async () => {
    const { client } = await openFixture();
    const before = client.received.length;
    client.dispatch('ahp-session:/none', title('x'));
    client.dispatch('ahp-terminal:/none', { type: 'terminal/input' });
    client.dispatch('', title('x'));
    await settle();
    expect(client.received).toHaveLength(before);
  });

  it('[AHP-114] does not use its number up', async () => {
    const { client, uri } = await openFixture();
    const clientSeq = client.dispatch('ahp-session:/none', title('x'));
    client.dispatch(uri, title('y'), clientSeq);
    expect((await answerTo(client, uri, clientSeq)).rejectionReason).toBeUndefined();
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
    const { client, uri } = await openFixture();
    expect(await refusalOf(client, uri, { type })).toEqual(expect.any(String));
  });

  it.each([
    ['terminal/input', { type: 'terminal/input', data: 'x' }],
    ['root/configChanged', { type: 'root/configChanged', config: {} }],
  ])('[AHP-116] %s does not belong on a session', async (_name, action) => {
    const { client, uri } = await openFixture();
    expect(await refusalOf(client, uri, action)).toContain('does not belong');
  });

  it('[AHP-116] a session action does not belong on the root', async () => {
    const { client } = await openFixture();
    expect(await refusalOf(client, ROOT, title('x'))).toContain('does not belong');
  });

  it.each([
    ['a missing member', { type: 'session/titleChanged' }],
    ['a member of the wrong type', { type: 'session/titleChanged', title: 5 }],
    ['a wrong type inside', { type: 'session/turnStarted', turnId: 't', userMessage: { text: ['x'] } }],
  ])('[AHP-117] with %s is rejected, and the reason says which', async (_name, action) => {
    const { client, uri } = await openFixture();
    const before = await stateOf(client, uri);
    expect(await refusalOf(client, uri, action)).toMatch(/title|userMessage/);
    expect(await stateOf(client, uri)).toEqual(before);
  });

  it.each([
    ['no channel', { clientSeq: 1, action: title('x') }],
    ['no number', { channel: 'URI', action: title('x') }],
    ['a number that is text', { channel: 'URI', clientSeq: '1', action: title('x') }],
  ])('[AHP-117] with %s is dropped', async (_name, params) => {
    const { client, uri } = await openFixture();
    const before = client.received.length;
    client.send({ method: 'dispatchAction', params: JSON.parse(JSON.stringify(params).replaceAll('URI', uri)) });
    await settle();
    expect(client.received).toHaveLength(before);
    expect(await client.request('ping', { channel: ROOT })).toBeNull();
  });

  it.each([
    ['nothing', undefined],
    ['null', null],
    ['an object without a type', { title: 'x' }],
  ])('[AHP-117] that is %s is rejected: its number can be answered', async (_name, action) => {
    const { client, uri } = await openFixture();
    client.send({ method: 'dispatchAction', params: { channel: uri, clientSeq: 71, action } });
    const { params } = await client.until(({ params }) => (params?.origin as { clientSeq?: number })?.clientSeq === 71);
    expect(params).toMatchObject({ channel: uri, rejectionReason: 'an action is an object with a type' });
  });
});
