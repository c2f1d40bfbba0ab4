import { ErrorCode, type SessionState, SessionStatus } from '@atrium/protocol';
import { describe, expect, it } from 'vitest';
import { KeptLog } from '../support/logs.js';
import { openFixture, startHost, stateOf } from '../support/session-fixture.js';
import { type RawClient, ROOT } from '../support/test-host.js';

const METHOD = 'atrium/importSession';
const URI = 'ahp-session:/imported';

const summary = {
  resource: 'ahp-session:/elsewhere',
  provider: 'puppet',
  title: 'From elsewhere',
  status: SessionStatus.Idle,
  createdAt: 1_000,
  modifiedAt: 2_000,
  workingDirectory: 'file:///srv/app',
};

function turn(id: string) {
  const responseParts = [{ kind: 'markdown', id: `p-${id}`, content: `Answer ${id}`, extra: { kept: true } }];
  return { id, userMessage: { text: `Question ${id}` }, responseParts, state: 'complete' };
}

function page(start: number, ids: readonly string[], rest: object = {}) {
  return { channel: URI, start, turns: ids.map(turn), ...rest };
}

async function problemOf(client: RawClient, params: object): Promise<{ code?: number; message?: string }> {
  return (await client.ask(METHOD, params)).error ?? {};
}

describe('importing a session', () => {
  it('takes in pages, and then goes on like any other session', async () => {
    const { client } = await openFixture();
    expect(await client.ask(METHOD, page(0, ['a', 'b']))).toMatchObject({ result: null });
    await client.request(METHOD, page(2, ['c'], { state: { summary } }));
    const { turns, summary: here } = await stateOf(client, URI);
    expect(turns).toEqual(['a', 'b', 'c'].map(turn));
    const { title, createdAt, workingDirectory } = summary;
    expect(here).toMatchObject({ resource: URI, provider: 'puppet', title, createdAt, workingDirectory });
    const { items } = await client.request<{ items: SessionState['summary'][] }>('listSessions', { channel: ROOT });
    expect(items.map(({ resource }) => resource)).toContain(URI);
  });

  it('takes exports of the 1.0 model, too', async () => {
    const { client } = await openFixture();
    const newer = (id: string) => {
      const { userMessage, ...rest } = turn(id);
      return { ...rest, message: { ...userMessage, origin: { kind: 'user' } } };
    };
    const { createdAt, modifiedAt, workingDirectory, ...rest } = summary;
    const [created, modified] = [createdAt, modifiedAt].map((time) => new Date(time).toISOString());
    const state = {
      summary: { ...rest, createdAt: created, modifiedAt: modified, workingDirectories: [workingDirectory] },
    };
    await client.request(METHOD, page(0, ['a']));
    await client.request(METHOD, { channel: URI, start: 1, turns: [newer('b')], state });
    const imported = await stateOf(client, URI);
    expect(imported.turns).toEqual([turn('a'), turn('b')]);
    expect(imported.summary).toMatchObject({ title: summary.title, createdAt, modifiedAt, workingDirectory });
    const other = { channel: 'ahp-session:/other', start: 0 };
    expect((await problemOf(client, { ...other, turns: [{ ...newer('x'), responseParts: 7 }] })).message).toContain(
      '/turns/0/responseParts',
    );
  });

  it('keeps it over a restart', async () => {
    const log = new KeptLog();
    const { client, host } = await openFixture({ log });
    await client.request(METHOD, page(0, ['a'], { state: { summary } }));
    await host.stop();
    const phone = await (await startHost({ log })).client('phone');
    expect((await stateOf(phone, URI)).turns).toEqual([turn('a')]);
  });

  it('is seen by nobody before its last page', async () => {
    const { client } = await openFixture();
    await client.request(METHOD, page(0, ['a']));
    expect((await client.ask('subscribe', { channel: URI })).error?.code).toBe(ErrorCode.SessionNotFound);
  });

  it('begins anew with the first page, whatever an earlier attempt left', async () => {
    const { client } = await openFixture();
    await client.request(METHOD, page(0, ['old', 'older']));
    await client.request(METHOD, page(0, ['a'], { state: { summary } }));
    expect((await stateOf(client, URI)).turns).toEqual([turn('a')]);
  });

  it('takes a turn that is larger than a message in pieces', async () => {
    const { client } = await openFixture();
    const large = { ...turn('large'), userMessage: { text: '語"\\'.repeat(1_000_000) } };
    const json = JSON.stringify(large);
    await client.request(METHOD, page(0, ['a']));
    for (let at = 0; at < json.length; at += 500_000) {
      const piece = { at, text: json.slice(at, at + 500_000), isLast: at + 500_000 >= json.length };
      expect(await client.ask(METHOD, { channel: URI, start: 1, piece })).toMatchObject({ result: null });
    }
    await client.request(METHOD, page(2, ['b'], { state: { summary } }));
    expect((await stateOf(client, URI)).turns).toEqual([turn('a'), large, turn('b')]);
  });

  it('refuses pieces that do not follow one another, are no turn, or come from somebody else', async () => {
    const { client, host } = await openFixture();
    const phone = await host.client('phone');
    const code = ErrorCode.InvalidParams;
    const piece = (at: number, text: string, isLast = false) => ({
      channel: URI,
      start: 0,
      piece: { at, text, isLast },
    });
    expect(await problemOf(client, { channel: URI, start: 0, piece: {} })).toMatchObject({ code });
    expect(await problemOf(client, piece(5, 'x'))).toMatchObject({ code, message: expect.stringContaining('/at 0') });
    await client.request(METHOD, piece(0, '{"id":'));
    expect(await problemOf(phone, piece(6, '"a"}', true))).toMatchObject({ code });
    expect(await problemOf(client, piece(4, '"a"}', true))).toMatchObject({ code });
    await client.request(METHOD, piece(0, '{"id":'));
    expect(await problemOf(client, piece(6, 'no', true))).toMatchObject({
      code,
      message: expect.stringContaining('JSON'),
    });
  });

  it('refuses what is not a session, and says why', async () => {
    const { client } = await openFixture();
    const code = ErrorCode.InvalidParams;
    expect(await problemOf(client, {})).toMatchObject({ code });
    expect(await problemOf(client, page(-1, []))).toMatchObject({ code });
    expect(await problemOf(client, page(3, ['a']))).toMatchObject({
      code,
      message: expect.stringContaining('must be 0'),
    });
    expect(await problemOf(client, page(0, ['a', 'a']))).toMatchObject({ code });
    expect(await problemOf(client, { ...page(0, []), turns: [{ id: 'x' }] })).toMatchObject({ code });
    expect(await problemOf(client, page(0, [], { state: { summary: { title: 'x' } } }))).toMatchObject({ code });
    await client.request(METHOD, page(0, ['a']));
    expect(await problemOf(client, page(1, ['a']))).toMatchObject({ code });
  });

  it('refuses a URI that is taken, and an agent that is not here', async () => {
    const { client, uri } = await openFixture();
    const taken = { ...page(0, []), channel: uri, state: { summary } };
    expect(await problemOf(client, taken)).toMatchObject({ code: ErrorCode.SessionAlreadyExists });
    const foreign = page(0, [], { state: { summary: { ...summary, provider: 'nobody' } } });
    expect(await problemOf(client, foreign)).toMatchObject({ code: ErrorCode.ProviderNotFound });
  });

  it('allows nothing here that was allowed elsewhere', async () => {
    const { client } = await openFixture();
    const config = { values: { autoApprove: true } };
    await client.request(METHOD, page(0, ['a'], { state: { summary, config } }));
    expect((await stateOf(client, URI)).config?.values.autoApprove).toBe(false);
  });
});
