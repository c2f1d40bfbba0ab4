import { TITLE_MAX_CHARACTERS } from '@atrium/core/sessions/limits.js';
import { ErrorCode } from '@atrium/protocol';
import { describe, expect, it } from 'vitest';
import { openFixture, openPuppetFixture, stateOf } from '../support/session-fixture.js';
import { sessionsV1Client } from '../support/sessions-v1-client.js';
import { settle } from '../support/test-host.js';

const FORK = 'ahp-session:/fork';

describe('forking a session', () => {
  it('[AHP-169] copies the turns up to and including the chosen one, response and all', async () => {
    const { client, uri } = await openFixture();
    for (const id of ['t1', 't2', 't3']) await client.turn(uri, `message ${id}`, id);
    await client.session(FORK, { fork: { session: uri, turnId: 't2' } });
    const [source, fork] = [await stateOf(client, uri), await stateOf(client, FORK)];
    expect(fork.turns).toEqual(source.turns.slice(0, 2));
    expect(fork.turns[1]?.responseParts).toMatchObject([{ content: 'You said: message t2' }]);
    expect(fork.lifecycle).toBe('ready');
  });

  it('has the title of its source, and says that it is a fork', async () => {
    const { client, uri, host } = await openFixture();
    client.dispatch(uri, { type: 'session/titleChanged', title: 'Port the parser' });
    await client.turn(uri, 'hello', 't1');
    const old = await sessionsV1Client(host, 'old');
    await client.session(FORK, { fork: { session: uri, turnId: 't1' } });
    expect((await stateOf(client, FORK)).summary.title).toBe('Port the parser (fork)');
    expect(old.notifications()).toMatchObject([{ summary: { title: 'Port the parser (fork)' } }]);
    await client.session(`${FORK}-2`, { fork: { session: FORK, turnId: 't1' } });
    await client.session(`${FORK}-3`, { fork: { session: `${FORK}-2`, turnId: 't1' } });
    const titles = [`${FORK}-2`, `${FORK}-3`].map(async (fork) => (await stateOf(client, fork)).summary.title);
    expect(await Promise.all(titles)).toEqual(['Port the parser (fork 2)', 'Port the parser (fork 3)']);
  });

  it('has a title that is no longer than any other', async () => {
    const { client, uri } = await openFixture();
    client.dispatch(uri, { type: 'session/titleChanged', title: 'x'.repeat(TITLE_MAX_CHARACTERS) });
    await client.turn(uri, 'hello', 't1');
    await client.session(FORK, { fork: { session: uri, turnId: 't1' } });
    const { title } = (await stateOf(client, FORK)).summary;
    expect([title.length, title.endsWith(' (fork)')]).toEqual([TITLE_MAX_CHARACTERS, true]);
  });

  it('[REL-070] keeps what steered its turns', async () => {
    const { client, uri, puppet } = await openPuppetFixture();
    const userMessage = { text: 'gently' };
    client.dispatch(uri, { type: 'session/pendingMessageSet', kind: 'steering', id: 's1', userMessage });
    await client.action(uri, 'session/pendingMessageSet');
    puppet.turn.takeSteering();
    puppet.finish();
    await client.action(uri, 'session/turnComplete');
    await client.session(FORK, { fork: { session: uri, turnId: 't1' } });
    expect((await stateOf(client, FORK)).turns[0]?.responseParts).toMatchObject([{ userMessage }]);
  });

  it('[AHP-085] [AHP-169] announces it like any other', async () => {
    const { client, uri, host } = await openFixture();
    await client.turn(uri, 'hello', 't1');
    const phone = await host.client();
    await client.request('createSession', { channel: FORK, fork: { session: uri, turnId: 't1' } });
    const { params } = await phone.until(({ method }) => method === 'root/sessionAdded');
    expect(params?.summary).toMatchObject({ resource: FORK });
  });

  it('[AHP-169] goes its own way from there, and so does its source', async () => {
    const { client, uri } = await openFixture();
    await client.turn(uri, 'hello', 't1');
    await client.session(FORK, { fork: { session: uri, turnId: 't1' } });
    await client.turn(FORK, 'only in the fork', 'f2');
    await client.turn(uri, 'only in the source', 's2');
    client.dispatch(uri, { type: 'session/truncated' });
    await client.action(uri, 'session/truncated');
    const idsOf = async (channel: string) => (await stateOf(client, channel)).turns.map(({ id }) => id);
    expect(await idsOf(FORK)).toEqual(['t1', 'f2']);
    expect(await idsOf(uri)).toEqual([]);
  });

  it('[AHP-169] tells its agent what was said before', async () => {
    const { client, uri, agent } = await openFixture({ session: { provider: 'mock' } });
    await client.turn(uri, 'hello', 't1');
    await client.session(FORK, { fork: { session: uri, turnId: 't1' }, provider: 'puppet' });
    expect((await agent.history(10)).map(({ id }) => id)).toEqual(['t1']);
  });

  it('[AHP-046] refuses a source that is not there', async () => {
    const { client } = await openFixture();
    const fork = { session: 'ahp-session:/nowhere', turnId: 't1' };
    const { error } = await client.ask('createSession', { channel: FORK, fork });
    expect(error?.code).toBe(ErrorCode.SessionNotFound);
    expect(await client.ask('createSession', { channel: FORK })).toMatchObject({ result: null });
  });

  it('[AHP-046] refuses a turn that is cut off in the same moment, and costs nobody else anything', async () => {
    const { client, uri, join, host } = await openFixture();
    for (const id of ['t1', 't2']) await client.turn(uri, `message ${id}`, id);
    const phone = await join('phone');
    const forget = host.log.forget.bind(host.log);
    host.log.forget = async (channel) => {
      phone.dispatch(uri, { type: 'session/truncated', turnId: 't1' });
      await phone.action(uri, 'session/truncated');
      return forget(channel);
    };
    const { error } = await client.ask('createSession', { channel: FORK, fork: { session: uri, turnId: 't2' } });
    expect(error).toMatchObject({ code: ErrorCode.InvalidParams, message: expect.stringContaining('t2') });
  });

  it('[AHP-046] refuses a turn that is not there', async () => {
    const { client, uri } = await openFixture();
    const { error } = await client.ask('createSession', { channel: FORK, fork: { session: uri, turnId: 'nowhere' } });
    expect(error?.code).toBe(ErrorCode.InvalidParams);
  });

  it('[AHP-170] refuses the turn that is still running', async () => {
    const { client, uri, puppet } = await openPuppetFixture();
    const fork = { session: uri, turnId: 't1' };
    expect((await client.ask('createSession', { channel: FORK, fork })).error?.code).toBe(ErrorCode.InvalidParams);
    puppet.finish();
    await settle();
    expect((await client.ask('createSession', { channel: FORK, fork })).error).toBeUndefined();
  });
});
