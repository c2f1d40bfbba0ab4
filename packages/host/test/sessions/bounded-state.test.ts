/** What clients can put into the state of a session: everybody who opens it gets it, and it is in memory meanwhile. */

import {
  DEFERRED_ACTIONS_MAX,
  GIVEN_TITLE_MAX_CHARACTERS,
  PENDING_MESSAGES_MAX,
} from '@atrium/core/sessions/limits.js';
import type { StateAction } from '@atrium/protocol';
import { expect, it } from 'vitest';
import { answerTo, openPuppetFixture, stateOf } from '../support/session-fixture.js';
import { settle } from '../support/test-host.js';

const pending = (id: string, text: string, kind: 'queued' | 'steering' = 'queued'): StateAction => ({
  type: 'session/pendingMessageSet',
  kind,
  id,
  userMessage: { text },
});

const agentChanged = (uri: string): StateAction => ({ type: 'session/agentChanged', agent: { uri } });

it('[REL-098] messages that wait have room for 16 MiB together; one may be replaced or removed then', async () => {
  const { client, uri } = await openPuppetFixture();
  const text = 'x'.repeat(1_900_000);
  for (let count = 1; count <= 8; count++) client.dispatch(uri, pending(`q${count}`, text), 100 + count);
  await answerTo(client, uri, 108);
  for (const [clientSeq, kind] of [
    [200, 'queued'],
    [201, 'steering'],
  ] as const) {
    client.dispatch(uri, pending('more', text, kind), clientSeq);
    expect((await answerTo(client, uri, clientSeq)).rejectionReason).toMatch(/^too much is waiting already/);
  }
  client.dispatch(uri, pending('q3', text.slice(1)), 202);
  expect((await answerTo(client, uri, 202)).rejectionReason).toBeUndefined();
  client.dispatch(uri, { type: 'session/pendingMessageRemoved', kind: 'queued', id: 'q1' }, 203);
  client.dispatch(uri, pending('more', text, 'steering'), 204);
  expect((await answerTo(client, uri, 204)).rejectionReason).toBeUndefined();
});

it('[REL-098] no more than a thousand messages wait', async () => {
  const { client, uri } = await openPuppetFixture();
  for (let count = 1; count <= PENDING_MESSAGES_MAX + 1; count++) {
    client.dispatch(uri, pending(`q${count}`, 'short'), 100 + count);
    if (count % 100 === 0) await settle();
  }
  const { rejectionReason } = await answerTo(client, uri, 100 + PENDING_MESSAGES_MAX + 1);
  expect(rejectionReason).toBe('1000 messages are waiting already');
  expect((await stateOf(client, uri)).queuedMessages).toHaveLength(PENDING_MESSAGES_MAX);
});

it('[REL-098] a title is no book', async () => {
  const { client, uri } = await openPuppetFixture();
  client.dispatch(uri, { type: 'session/titleChanged', title: 't'.repeat(GIVEN_TITLE_MAX_CHARACTERS + 1) }, 100);
  expect((await answerTo(client, uri, 100)).rejectionReason).toBe('a title may have at most 4000 characters');
});

it('[REL-098] no more than a hundred changes wait for the end of the turn', async () => {
  const { client, uri, puppet } = await openPuppetFixture();
  for (let index = 0; index <= DEFERRED_ACTIONS_MAX; index++)
    client.dispatch(uri, agentChanged(`file:///${index}`), index + 100);
  const { rejectionReason } = await answerTo(client, uri, 100 + DEFERRED_ACTIONS_MAX);
  expect(rejectionReason).toBe('too many changes wait for the end of the turn');
  puppet.finish();
  expect((await answerTo(client, uri, 100 + DEFERRED_ACTIONS_MAX - 1)).rejectionReason).toBeUndefined();
});

it('[REL-098] what stands in the list of all sessions is short', async () => {
  const { client, uri } = await openPuppetFixture();
  const long = 'x'.repeat(20_000);
  client.dispatch(uri, agentChanged(`file:///${long}`), 100);
  expect((await answerTo(client, uri, 100)).rejectionReason).toBe('agent may have at most 16384 characters as JSON');
  const create = (params: object) => client.ask('createSession', { channel: 'ahp-session:/new', ...params });
  expect((await create({ channel: `ahp-session:/${long}` })).error?.message).toBe(
    '/channel may have at most 500 characters',
  );
  const { error } = await create({ agent: { uri: `file:///${long}` } });
  expect(error?.message).toBe('/agent may have at most 16384 characters as JSON');
  const summary = { ...(await stateOf(client, uri)).summary, title: long.repeat(4) };
  const page = { channel: 'ahp-session:/new', start: 0, turns: [], state: { summary } };
  const imported = await client.ask('atrium/importSession', page);
  expect(imported.error?.message).toBe('atrium/importSession: /state/summary may have at most 65536 characters');
});
