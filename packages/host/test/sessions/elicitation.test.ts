import { ANSWER_MAX_CHARACTERS } from '@atrium/core/sessions/limits.js';
import type { SessionInputAnswer, SessionInputRequest, StateAction } from '@atrium/protocol';
import { describe, expect, it } from 'vitest';
import {
  answerTo,
  lastText,
  openFixture,
  openPuppetFixture,
  refusalOf,
  stateOf,
  turnStarted,
} from '../support/session-fixture.js';
import { settle } from '../support/test-host.js';

const text = (value: string, state: 'draft' | 'submitted' = 'submitted'): SessionInputAnswer => ({
  state,
  value: { kind: 'text', value },
});
const draft = (questionId: string, answer?: SessionInputAnswer, requestId = 'q'): StateAction => ({
  type: 'session/inputAnswerChanged',
  requestId,
  questionId,
  ...(answer && { answer }),
});
const finish = (response: 'accept' | 'decline' | 'cancel', more: object = {}): StateAction => ({
  type: 'session/inputCompleted',
  requestId: 'q',
  response,
  ...more,
});

const REQUEST: SessionInputRequest = {
  id: 'q',
  message: 'Which?',
  questions: [
    { id: 'name', kind: 'text', message: 'Name?', required: true },
    { id: 'more', kind: 'text', message: 'More?' },
  ],
};

/** A turn that has asked a question, while two clients watch. */
async function askedFixture(request: SessionInputRequest = REQUEST) {
  const fixture = await openPuppetFixture();
  const phone = await fixture.join('phone');
  const outcome = fixture.puppet.turn.ask(request);
  outcome.catch(() => {});
  await phone.action(fixture.uri, 'session/inputRequested');
  return { ...fixture, phone, outcome };
}

describe('a question to people', () => {
  it('[AHP-235] [AHP-240] keeps the turn running, and shows that somebody is needed', async () => {
    const { client, uri } = await askedFixture();
    const state = await stateOf(client, uri);
    expect(state.activeTurn?.id).toBe('t1');
    expect(state.inputRequests).toEqual([REQUEST]);
    expect(state.summary.status & 31).toBe(24);
  });

  it('[AHP-235] can be put better under the same id, and drafts stay', async () => {
    const { client, uri, puppet } = await askedFixture();
    await refusalOf(client, uri, draft('name', text('An', 'draft')));
    puppet.turn.ask({ ...REQUEST, message: 'Which one?' }).catch(() => {});
    await settle();
    const { inputRequests } = await stateOf(client, uri);
    expect(inputRequests).toMatchObject([{ message: 'Which one?', answers: { name: text('An', 'draft') } }]);
  });

  it('[AHP-236] takes drafts of what it asks only, and no book', async () => {
    const { client, uri } = await askedFixture();
    const other = await refusalOf(client, uri, draft('other', text('x', 'draft')));
    expect(other).toBe('q does not ask other');
    const book = await refusalOf(client, uri, draft('name', text('x'.repeat(ANSWER_MAX_CHARACTERS), 'draft')));
    expect(book).toContain('characters as JSON');
    expect((await stateOf(client, uri)).inputRequests).toEqual([REQUEST]);
  });

  it('[AHP-236] lets several people fill it in together, and all see the same', async () => {
    const { client, phone, uri } = await askedFixture();
    client.dispatch(uri, draft('name', text('An', 'draft')));
    phone.dispatch(uri, draft('more', text('tea', 'draft')));
    await settle();
    phone.dispatch(uri, draft('name', text('Anna', 'draft')));
    await phone.action(uri, (action) => JSON.stringify(action).includes('Anna'));
    const [request] = (await stateOf(client, uri)).inputRequests ?? [];
    expect(request?.answers).toEqual({ name: text('Anna', 'draft'), more: text('tea', 'draft') });
    expect((await stateOf(phone, uri)).inputRequests?.[0]).toEqual(request);
    await refusalOf(client, uri, draft('more'));
    expect((await stateOf(phone, uri)).inputRequests?.[0]?.answers).toEqual({ name: text('Anna', 'draft') });
  });

  it('[AHP-149] [AHP-237] resumes the agent with the drafts, and the last answers over them', async () => {
    const { client, phone, uri, outcome } = await askedFixture();
    await refusalOf(client, uri, draft('name', text('Anna')));
    await refusalOf(client, uri, draft('more', text('tea')));
    expect(await refusalOf(phone, uri, finish('accept', { answers: { more: text('coffee') } }))).toBeUndefined();
    expect(await outcome).toEqual({
      response: 'accept',
      answers: { name: text('Anna'), more: text('coffee') },
    });
    expect((await stateOf(client, uri)).inputRequests).toBeUndefined();
  });

  it.each(['decline', 'cancel'] as const)('[AHP-149] [AHP-237] resumes the agent after a %s', async (response) => {
    const { client, uri, outcome } = await askedFixture();
    expect(await refusalOf(client, uri, finish(response))).toBeUndefined();
    expect(await outcome).toMatchObject({ response });
    expect((await stateOf(client, uri)).activeTurn?.id).toBe('t1');
  });

  it('[AHP-238] may be no more than an address to look at, or an address and questions', async () => {
    const { client, uri, outcome, puppet } = await askedFixture({ id: 'q', url: 'https://example.com/review' });
    expect(await refusalOf(client, uri, finish('accept'))).toBeUndefined();
    expect(await outcome).toEqual({ response: 'accept', answers: {} });
    const both: SessionInputRequest = { ...REQUEST, id: 'both', url: 'https://example.com/form' };
    puppet.turn.ask(both).catch(() => {});
    await client.action(uri, (action) => JSON.stringify(action).includes('example.com/form'));
    expect((await stateOf(client, uri)).inputRequests).toEqual([both]);
  });

  it.each<[string, StateAction]>([
    ['cancelled', { type: 'session/turnCancelled', turnId: 't1' }],
    ['cut off', { type: 'session/truncated' }],
  ])('[AHP-239] is abandoned when the turn is %s', async (_how, end) => {
    const { client, uri, outcome } = await askedFixture();
    await refusalOf(client, uri, end);
    await expect(outcome).rejects.toMatchObject({ name: 'AbortError' });
    expect((await stateOf(client, uri)).inputRequests).toBeUndefined();
    expect(await refusalOf(client, uri, finish('cancel'))).toContain('q');
  });

  it('[AHP-240] leaves the session waiting until the last of several is answered', async () => {
    const { client, uri, puppet } = await askedFixture();
    const status = async () => (await stateOf(client, uri)).summary.status & 31;
    puppet.turn.ask({ id: 'second', message: 'And?' }).catch(() => {});
    await settle();
    await refusalOf(client, uri, finish('decline'));
    expect(await status()).toBe(24);
    await refusalOf(client, uri, { ...finish('decline'), requestId: 'second' } as StateAction);
    expect(await status()).toBe(8);
    puppet.finish();
    await client.action(uri, 'session/turnComplete');
    expect(await status()).toBe(1);
  });

  it('works for a script, which gets the answers', async () => {
    const { client, uri } = await openFixture();
    client.dispatch(uri, turnStarted('t1', 'ask'));
    await client.action(uri, 'session/inputRequested');
    client.dispatch(uri, finish('accept', { answers: { name: text('Anna') } }));
    await client.action(uri, 'session/turnComplete');
    expect(lastText(await stateOf(client, uri))).toBe(`answers: ${JSON.stringify({ name: text('Anna') })}`);
  });
});

describe('answers', () => {
  it('[AHP-130] are refused when nothing was asked', async () => {
    const { client, uri } = await askedFixture();
    expect(await refusalOf(client, uri, draft('name', text('A'), 'nowhere'))).toContain('nowhere');
    expect(await refusalOf(client, uri, draft('name', text('A')))).toBeUndefined();
  });

  it.each<[string, unknown]>([
    ['a draft without a value', { state: 'draft' }],
    ['a submission without a value', { state: 'submitted' }],
    ['a text without text', { state: 'submitted', value: { kind: 'text' } }],
    ['a number that is text', { state: 'draft', value: { kind: 'number', value: '1' } }],
    ['a choice of several that is one', { state: 'draft', value: { kind: 'selected-many', value: 'a' } }],
    ['an unknown kind of value', { state: 'draft', value: { kind: 'colour', value: 'red' } }],
  ])('[AHP-131] are refused when they are %s', async (_what, answer) => {
    const { client, uri } = await askedFixture();
    expect(await refusalOf(client, uri, draft('name', answer as SessionInputAnswer))).toBeDefined();
    expect((await stateOf(client, uri)).inputRequests?.[0]?.answers).toBeUndefined();
  });

  it.each<SessionInputAnswer>([
    { state: 'draft', value: { kind: 'number', value: 1.5 } },
    { state: 'submitted', value: { kind: 'boolean', value: false } },
    { state: 'draft', value: { kind: 'selected', value: 'a', freeformValues: ['b'] } },
    { state: 'submitted', value: { kind: 'selected-many', value: [] } },
    { state: 'skipped' },
  ])('[AHP-131] are taken when they are whole: %j', async (answer) => {
    const { client, uri } = await askedFixture();
    expect(await refusalOf(client, uri, draft('more', answer))).toBeUndefined();
    expect((await stateOf(client, uri)).inputRequests?.[0]?.answers).toEqual({ more: answer });
  });

  it('[AHP-132] come too late when somebody answered already', async () => {
    const { client, phone, uri, outcome } = await askedFixture();
    const accept = (name: string) => finish('accept', { answers: { name: text(name) } });
    const reasons = await Promise.all([refusalOf(client, uri, accept('A')), refusalOf(phone, uri, accept('B'))]);
    expect(reasons).toEqual([undefined, expect.stringContaining('somebody answered already')]);
    expect(await outcome).toMatchObject({ answers: { name: text('A') } });
  });

  it.each<[string, SessionInputAnswer | undefined]>([
    ['missing', undefined],
    ['only a draft', text('A', 'draft')],
    ['skipped', { state: 'skipped' }],
  ])('[AHP-133] cannot be accepted while a required one is %s', async (_what, answer) => {
    const { client, uri } = await askedFixture();
    if (answer) await refusalOf(client, uri, draft('name', answer));
    expect(await refusalOf(client, uri, finish('accept'))).toContain('name');
    expect(await refusalOf(client, uri, finish('accept', { answers: { more: text('x') } }))).toContain('name');
    expect((await stateOf(client, uri)).inputRequests).toHaveLength(1);
    expect(await refusalOf(client, uri, finish('decline'))).toBeUndefined();
  });

  it('[AHP-133] count whether they were synced before or come with the end', async () => {
    const first = await askedFixture();
    await refusalOf(first.client, first.uri, draft('name', text('A')));
    expect(await refusalOf(first.phone, first.uri, finish('accept'))).toBeUndefined();
    const second = await askedFixture();
    const accept = second.client.dispatch(second.uri, finish('accept', { answers: { name: text('A') } }));
    expect((await answerTo(second.client, second.uri, accept)).rejectionReason).toBeUndefined();
  });
});
