/** Notes on files of a session: who may write what, how they are counted, kept, restored, moved, and read by a model. */

import { annotationsRefusal } from '@atrium/core/sessions/annotations.js';
import {
  ANNOTATION_ENTRIES_MAX,
  ANNOTATION_ENTRY_MAX_CHARACTERS,
  ANNOTATION_ID_MAX_CHARACTERS,
  ANNOTATION_MAX_CHARACTERS,
  ANNOTATIONS_MAX,
  ANNOTATIONS_MAX_CHARACTERS,
  DISPOSED_KEPT_MS,
} from '@atrium/core/sessions/limits.js';
import type { Annotation, AnnotationsState, SessionState, SessionSummary } from '@atrium/protocol/ahp-1';
import { describe, expect, it } from 'vitest';
import { FakeClock } from '../support/fake-clock.js';
import { KeptLog } from '../support/logs.js';
import { nativeClient, nativeSession, userMessage } from '../support/native-client.js';
import { PuppetAgent } from '../support/puppet-agent.js';
import { answerTo, refusalOf, startHost } from '../support/session-fixture.js';
import { type RawClient, ROOT, type TestHost } from '../support/test-host.js';

const range = { start: { line: 2, character: 0 }, end: { line: 4, character: 7 } };
const note = (id: string, text = `note ${id}`) => ({ id, text });

function annotation(session: string, id: string, more: object = {}): Annotation {
  return {
    ...{ id, origin: { session }, resource: 'file:///w/a.ts', range, resolved: false, entries: [note('e1')] },
    ...more,
  };
}

const set = (it: unknown) => ({ type: 'annotations/set', annotation: it }) as never;

async function openScene(options: { log?: KeptLog; clock?: FakeClock } = {}) {
  const agent = new PuppetAgent();
  const host = await startHost({ agents: [agent], ...options });
  const client = await nativeClient(host, 'desk');
  const { uri, chat } = await nativeSession(client, { provider: 'puppet' });
  const channel = `${uri}/annotations`;
  await client.request('subscribe', { channel });
  return { agent, host, client, uri, chat, channel };
}

const stateOf = (client: RawClient, channel: string) => client.state<AnnotationsState>(channel);
const countsOf = async (client: RawClient, uri: string) => (await client.state<SessionState>(uri)).annotations;
async function listed(client: RawClient): Promise<SessionSummary | undefined> {
  return (await client.request<{ items: SessionSummary[] }>('listSessions', { channel: ROOT })).items[0];
}

describe('annotations', () => {
  it('[UP-016] [UP-145] are a channel of every session, and change by five actions of any client', async () => {
    const { client, host, uri, channel } = await openScene();
    const phone = await nativeClient(host, 'phone');
    await phone.request('subscribe', { channel });
    expect(await stateOf(client, channel)).toEqual({ annotations: [] });
    expect(await refusalOf(client, channel, set(annotation(uri, 'a')))).toBeUndefined();
    const more = { type: 'annotations/entrySet', annotationId: 'a', entry: note('e2', 'second') } as never;
    expect(await refusalOf(phone, channel, more)).toBeUndefined();
    const done = { type: 'annotations/updated', annotationId: 'a', resolved: true } as never;
    expect(await refusalOf(client, channel, done)).toBeUndefined();
    const entries = [note('e1'), note('e2', 'second')];
    expect(await stateOf(phone, channel)).toEqual({ annotations: [annotation(uri, 'a', { resolved: true, entries })] });
    const less = { type: 'annotations/entryRemoved', annotationId: 'a', entryId: 'e1' } as never;
    expect(await refusalOf(client, channel, less)).toBeUndefined();
    const gone = { type: 'annotations/removed', annotationId: 'a' } as never;
    expect(await refusalOf(phone, channel, gone)).toBeUndefined();
    expect(await stateOf(client, channel)).toEqual({ annotations: [] });
    expect(phone.types(channel)).toEqual(client.types(channel));
  });

  it('[UP-080] [UP-145] are rejected when they are about nothing, and keep at least one note', async () => {
    const { client, uri, channel } = await openScene();
    const refused = (action: object) => refusalOf(client, channel, action as never);
    await refused(set(annotation(uri, 'a')));
    expect(await refused({ type: 'annotations/entryRemoved', annotationId: 'a', entryId: 'e1' })).toContain(
      'only note',
    );
    expect(await refused({ type: 'annotations/entryRemoved', annotationId: 'a', entryId: 'e9' })).toContain(
      'no note e9',
    );
    for (const type of ['updated', 'removed'])
      expect(await refused({ type: `annotations/${type}`, annotationId: 'b' })).toContain('no annotation b');
    expect(await refused({ type: 'annotations/entrySet', annotationId: 'b', entry: note('e') })).toContain(
      'no annotation',
    );
    expect(await refused(set(annotation(uri, 'b', { entries: [] })))).toContain('at least one');
    expect(await refused(set(annotation(uri, 'b', { entries: [note('x'), note('x')] })))).toContain('different ids');
    expect(await refused(set(annotation('ahp-session:/other', 'b')))).toContain('this session');
    expect(await refused(set(annotation(uri, 'b', { origin: { session: uri, chat: 'ahp-chat:/x' } })))).toContain(
      'not a chat',
    );
    expect(await refused({ type: 'session/titleChanged', title: 'x' })).toBeDefined();
    expect((await stateOf(client, channel)).annotations).toHaveLength(1);
  });

  it('[REL-098] are bounded: in number, in notes, in size, and all of them together', () => {
    const session = 'ahp-session:/s';
    const why = (action: object, annotations: Annotation[] = []) =>
      annotationsRefusal(action as never, { state: { annotations }, session, isChat: () => false });
    const many = (count: number) => Array.from({ length: count }, (_, index) => annotation(session, `a${index}`));
    expect(why(set(annotation(session, 'x')), many(ANNOTATIONS_MAX - 1))).toBeUndefined();
    expect(why(set(annotation(session, 'x')), many(ANNOTATIONS_MAX))).toContain(`${ANNOTATIONS_MAX} annotations`);
    expect(why(set(annotation(session, 'a0')), many(ANNOTATIONS_MAX))).toBeUndefined();
    const notes = (count: number) => Array.from({ length: count }, (_, index) => note(`e${index}`));
    expect(why(set(annotation(session, 'x', { entries: notes(ANNOTATION_ENTRIES_MAX) })))).toBeUndefined();
    expect(why(set(annotation(session, 'x', { entries: notes(ANNOTATION_ENTRIES_MAX + 1) })))).toContain('notes');
    expect(why(set(annotation(session, 'x'.repeat(ANNOTATION_ID_MAX_CHARACTERS))))).toBeUndefined();
    for (const id of ['', 'x'.repeat(ANNOTATION_ID_MAX_CHARACTERS + 1)])
      expect(why(set(annotation(session, id)))).toContain('needs an id');
    const frame = JSON.stringify(note('e', '')).length;
    const long = (length: number) =>
      set(annotation(session, 'x', { entries: [note('e', 'x'.repeat(length - frame))] }));
    expect(why(long(ANNOTATION_ENTRY_MAX_CHARACTERS))).toBeUndefined();
    expect(why(long(ANNOTATION_ENTRY_MAX_CHARACTERS + 1))).toContain('characters');
    const meta = { _meta: { x: 'x'.repeat(ANNOTATION_MAX_CHARACTERS) } };
    expect(why(set(annotation(session, 'x', meta)))).toContain('without its notes');
    const full = Array.from({ length: ANNOTATIONS_MAX_CHARACTERS / 20_000 }, (_, index) =>
      annotation(session, `f${index}`, { entries: [note('e', 'x'.repeat(20_000))] }),
    );
    expect(why(set(annotation(session, 'x')), full)).toContain('too large');
  });

  it('[UP-080] [UP-166] are counted in the session and in the list, in the same commit', async () => {
    const { client, uri, channel } = await openScene();
    const counts = (annotationCount: number, entryCount: number) => ({
      resource: channel,
      annotationCount,
      entryCount,
    });
    expect(await countsOf(client, uri)).toEqual(counts(0, 0));
    expect((await listed(client))?.annotations).toEqual(counts(0, 0));
    const seq = client.dispatch(channel, set(annotation(uri, 'a', { entries: [note('1'), note('2')] })));
    await answerTo(client, channel, seq);
    expect((await listed(client))?.annotations).toEqual(counts(1, 2));
    expect(await countsOf(client, uri)).toEqual(counts(1, 2));
    const told = await client.until(({ method }) => method === 'root/sessionSummaryChanged');
    expect(told.params?.changes).toMatchObject({ annotations: counts(1, 2) });
  });

  it('[UP-166] survive a restart, go with a disposed session, and come back with it', async () => {
    const log = new KeptLog();
    const clock = new FakeClock();
    const { client, host, uri, channel } = await openScene({ log, clock });
    await refusalOf(client, channel, set(annotation(uri, 'a')));
    await host.stop();
    const next = await startHost({ agents: [new PuppetAgent()], log, clock });
    const again = await nativeClient(next, 'desk');
    expect((await stateOf(again, channel)).annotations).toEqual([annotation(uri, 'a')]);
    expect(await countsOf(again, uri)).toMatchObject({ annotationCount: 1, entryCount: 1 });
    await again.request('disposeSession', { channel: uri });
    expect((await again.ask('subscribe', { channel })).error?.code).toBeLessThan(0);
    await again.request('atrium/restoreSession', { channel: uri });
    expect((await stateOf(again, channel)).annotations).toEqual([annotation(uri, 'a')]);
    await again.request('disposeSession', { channel: uri });
    await next.host.stop();
    clock.advance(DISPOSED_KEPT_MS + 1);
    await purged(log, clock);
    expect(await log.channels()).not.toContain(channel);
  });

  it('[UP-166] leave a session that opens when what is stored of them is damaged, and are not counted any more', async () => {
    const log = new KeptLog();
    const { client, host, uri, channel } = await openScene({ log });
    await refusalOf(client, channel, set(annotation(uri, 'a')));
    await host.stop();
    const open = log.openChannel.bind(log);
    log.openChannel = async (at, turns) => {
      const stored = await open(at, turns);
      const tail = stored?.tail.map((entry) => ({ ...entry, isDamaged: true as const }));
      return at === channel && stored && tail ? { ...stored, tail } : stored;
    };
    const next = await startHost({ agents: [new PuppetAgent()], log });
    const again = await nativeClient(next, 'desk');
    expect((await stateOf(again, channel)).annotations).toEqual([]);
    expect(await countsOf(again, uri)).toMatchObject({ annotationCount: 0 });
    await expect.poll(async () => (await listed(again))?.annotations?.annotationCount).toBe(0);
    expect(await refusalOf(again, channel, set(annotation(uri, 'b')))).toBeUndefined();
  });

  async function purged(log: KeptLog, clock: FakeClock): Promise<void> {
    const host: TestHost = await startHost({ agents: [new PuppetAgent()], log, clock });
    await expect.poll(async () => (await log.channels()).filter((uri) => uri.includes('/annotations'))).toEqual([]);
    await host.stop();
  }

  it('[UP-145] move to another host with their session, and are checked there', async () => {
    const { client, uri, channel } = await openScene();
    await refusalOf(client, channel, set(annotation(uri, 'a', { origin: { session: uri, turnId: 't' } })));
    const { annotations } = await client.request<AnnotationsState>('atrium/annotations', { channel: uri });
    const summary = await listed(client);
    const copy = `ahp-session:/${crypto.randomUUID()}`;
    const page = { channel: copy, start: 0, turns: [] };
    await client.request('atrium/importSession', { ...page, state: { summary, annotations } });
    expect((await stateOf(client, `${copy}/annotations`)).annotations).toEqual([annotation(copy, 'a')]);
    expect(await countsOf(client, copy)).toMatchObject({ annotationCount: 1 });
    const bad = { ...page, channel: `${copy}-2`, state: { summary, annotations: [annotation(uri, '')] } };
    expect((await client.ask('atrium/importSession', bad)).error?.message).toContain('needs an id');
  });

  it('[UP-075] reach the model as text when they are attached to a message', async () => {
    const { agent, client, uri, chat, channel } = await openScene();
    const entries = [note('1', 'Why not a map?'), { id: '2', text: { markdown: 'Two\nlines' } }];
    await refusalOf(client, channel, set(annotation(uri, 'a', { entries })));
    await refusalOf(
      client,
      channel,
      set(annotation(uri, 'b', { resource: 'file:///w/b.ts', range: undefined, resolved: true })),
    );
    const attach = (more: object) => ({ type: 'annotations', label: 'Review', resource: channel, ...more });
    const send = (turnId: string, attachments: object[]) =>
      client.dispatch(chat, {
        type: 'chat/turnStarted',
        turnId,
        message: { ...userMessage('mend'), attachments },
      } as never);
    send('t1', [attach({ annotationIds: ['a', 'gone'] })]);
    const { turn, finish } = await agent.turn(0);
    const first = 'On file:///w/a.ts, line 3, column 1 to line 5, column 8:\n- Why not a map?\n- Two\n  lines';
    expect(turn.message.attachments).toEqual([
      {
        type: 'simple',
        label: 'Review',
        modelRepresentation: `Review\n${first}\nAn annotation that was removed meanwhile.`,
      },
    ]);
    finish();
    await client.action(chat, 'chat/turnComplete');
    send('t2', [attach({}), attach({ resource: 'ahp-session:/x/annotations' })]);
    const texts = (await agent.turn(1)).turn.message.attachments as { modelRepresentation?: string }[];
    expect(texts[0]?.modelRepresentation).toContain('On file:///w/b.ts (resolved):\n- note e1');
    expect(texts[1]?.modelRepresentation).toContain('another session');
    expect(JSON.stringify(await agent.history(1))).toContain('Why not a map?');
  });

  it('[UP-212] name a turn for clients of 0.7, and are not there for clients of 0.3.0', async () => {
    const { client, host, uri, channel } = await openScene();
    const older = await host.client('older', { protocolVersions: ['0.7.0'] });
    await older.request('subscribe', { channel });
    const { origin: _, ...rest } = annotation(uri, 'a');
    expect(await refusalOf(older, channel, set({ ...rest, turnId: 't1' }))).toBeUndefined();
    expect((await stateOf(client, channel)).annotations[0]?.origin).toEqual({ session: uri, turnId: 't1' });
    expect(await older.state<object>(channel)).toMatchObject({ annotations: [{ id: 'a', turnId: 't1' }] });
    const oldest = await host.client('oldest');
    expect((await oldest.ask('subscribe', { channel })).error?.code).toBeLessThan(0);
    await oldest.request('subscribe', { channel: uri });
    expect(JSON.stringify(oldest.received)).not.toContain('"annotations"');
  });
});
