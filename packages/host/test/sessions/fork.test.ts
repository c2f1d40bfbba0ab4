import { TITLE_MAX_CHARACTERS } from '@atrium/core/sessions/limits.js';
import { ErrorCode } from '@atrium/protocol';
import { describe, expect, it } from 'vitest';
import { openPuppetRoom, openRoom, stateOf } from '../support/session-room.js';
import { sessionsV1Client } from '../support/sessions-v1-client.js';
import { settle } from '../support/test-host.js';

const FORK = 'ahp-session:/fork';

describe('forking a session', () => {
  it('[AHP-169] copies the turns up to and including the chosen one, response and all', async () => {
    const { desk, uri } = await openRoom();
    for (const id of ['t1', 't2', 't3']) await desk.turn(uri, `message ${id}`, id);
    await desk.session(FORK, { fork: { session: uri, turnId: 't2' } });
    const [source, fork] = [await stateOf(desk, uri), await stateOf(desk, FORK)];
    expect(fork.turns).toEqual(source.turns.slice(0, 2));
    expect(fork.turns[1]?.responseParts).toMatchObject([{ content: 'You said: message t2' }]);
    expect(fork.lifecycle).toBe('ready');
  });

  it('has the title of its source, and says that it is a fork', async () => {
    const { desk, uri, host } = await openRoom();
    desk.dispatch(uri, { type: 'session/titleChanged', title: 'Port the parser' });
    await desk.turn(uri, 'hello', 't1');
    const old = await sessionsV1Client(host, 'old');
    await desk.session(FORK, { fork: { session: uri, turnId: 't1' } });
    expect((await stateOf(desk, FORK)).summary.title).toBe('Port the parser (fork)');
    expect(old.notifications()).toMatchObject([{ summary: { title: 'Port the parser (fork)' } }]);
    await desk.session(`${FORK}-2`, { fork: { session: FORK, turnId: 't1' } });
    await desk.session(`${FORK}-3`, { fork: { session: `${FORK}-2`, turnId: 't1' } });
    const titles = [`${FORK}-2`, `${FORK}-3`].map(async (fork) => (await stateOf(desk, fork)).summary.title);
    expect(await Promise.all(titles)).toEqual(['Port the parser (fork 2)', 'Port the parser (fork 3)']);
  });

  it('has a title that is no longer than any other', async () => {
    const { desk, uri } = await openRoom();
    desk.dispatch(uri, { type: 'session/titleChanged', title: 'x'.repeat(TITLE_MAX_CHARACTERS) });
    await desk.turn(uri, 'hello', 't1');
    await desk.session(FORK, { fork: { session: uri, turnId: 't1' } });
    const { title } = (await stateOf(desk, FORK)).summary;
    expect([title.length, title.endsWith(' (fork)')]).toEqual([TITLE_MAX_CHARACTERS, true]);
  });

  it('[REL-070] keeps what steered its turns', async () => {
    const { desk, uri, puppet } = await openPuppetRoom();
    const userMessage = { text: 'gently' };
    desk.dispatch(uri, { type: 'session/pendingMessageSet', kind: 'steering', id: 's1', userMessage });
    await desk.action(uri, 'session/pendingMessageSet');
    puppet.turn.takeSteering();
    puppet.finish();
    await desk.action(uri, 'session/turnComplete');
    await desk.session(FORK, { fork: { session: uri, turnId: 't1' } });
    expect((await stateOf(desk, FORK)).turns[0]?.responseParts).toMatchObject([{ userMessage }]);
  });

  it('[AHP-085] [AHP-169] announces it like any other', async () => {
    const { desk, uri, host } = await openRoom();
    await desk.turn(uri, 'hello', 't1');
    const phone = await host.client();
    await desk.request('createSession', { channel: FORK, fork: { session: uri, turnId: 't1' } });
    const { params } = await phone.until(({ method }) => method === 'root/sessionAdded');
    expect(params?.summary).toMatchObject({ resource: FORK });
  });

  it('[AHP-169] goes its own way from there, and so does its source', async () => {
    const { desk, uri } = await openRoom();
    await desk.turn(uri, 'hello', 't1');
    await desk.session(FORK, { fork: { session: uri, turnId: 't1' } });
    await desk.turn(FORK, 'only in the fork', 'f2');
    await desk.turn(uri, 'only in the source', 's2');
    desk.dispatch(uri, { type: 'session/truncated' });
    await desk.action(uri, 'session/truncated');
    const idsOf = async (channel: string) => (await stateOf(desk, channel)).turns.map(({ id }) => id);
    expect(await idsOf(FORK)).toEqual(['t1', 'f2']);
    expect(await idsOf(uri)).toEqual([]);
  });

  it('[AHP-169] tells its agent what was said before', async () => {
    const { desk, uri, agent } = await openRoom({ session: { provider: 'mock' } });
    await desk.turn(uri, 'hello', 't1');
    await desk.session(FORK, { fork: { session: uri, turnId: 't1' }, provider: 'puppet' });
    expect((await agent.history(10)).map(({ id }) => id)).toEqual(['t1']);
  });

  it('[AHP-046] refuses a source that is not there', async () => {
    const { desk } = await openRoom();
    const fork = { session: 'ahp-session:/nowhere', turnId: 't1' };
    const { error } = await desk.ask('createSession', { channel: FORK, fork });
    expect(error?.code).toBe(ErrorCode.SessionNotFound);
    expect(await desk.ask('createSession', { channel: FORK })).toMatchObject({ result: null });
  });

  it('[AHP-046] refuses a turn that is cut off in the same moment, and costs nobody else anything', async () => {
    const { desk, uri, join, host } = await openRoom();
    for (const id of ['t1', 't2']) await desk.turn(uri, `message ${id}`, id);
    const phone = await join('phone');
    const forget = host.log.forget.bind(host.log);
    host.log.forget = async (channel) => {
      phone.dispatch(uri, { type: 'session/truncated', turnId: 't1' });
      await phone.action(uri, 'session/truncated');
      return forget(channel);
    };
    const { error } = await desk.ask('createSession', { channel: FORK, fork: { session: uri, turnId: 't2' } });
    expect(error).toMatchObject({ code: ErrorCode.InvalidParams, message: expect.stringContaining('t2') });
  });

  it('[AHP-046] refuses a turn that is not there', async () => {
    const { desk, uri } = await openRoom();
    const { error } = await desk.ask('createSession', { channel: FORK, fork: { session: uri, turnId: 'nowhere' } });
    expect(error?.code).toBe(ErrorCode.InvalidParams);
  });

  it('[AHP-170] refuses the turn that is still running', async () => {
    const { desk, uri, puppet } = await openPuppetRoom();
    const fork = { session: uri, turnId: 't1' };
    expect((await desk.ask('createSession', { channel: FORK, fork })).error?.code).toBe(ErrorCode.InvalidParams);
    puppet.finish();
    await settle();
    expect((await desk.ask('createSession', { channel: FORK, fork })).error).toBeUndefined();
  });
});
