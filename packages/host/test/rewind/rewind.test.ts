/** Going back to a message: what it shows first, what it does to conversation and files, and how it is undone. */
import { mkdtempSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import {
  type ChatState,
  chatReducer,
  REWIND_METHOD,
  type SessionState,
  type StateAction,
  UNDO_REWIND_METHOD,
} from '@atrium/protocol/ahp-1';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { edit, repository, textOf } from '../support/changes-fixture.js';
import { nativeClient, nativeSession, nativeTurn } from '../support/native-client.js';
import { RewindFixture } from '../support/rewind-fixture.js';

let first: RewindFixture;

const place = mkdtempSync(path.join(tmpdir(), 'atrium-rewind-'));

beforeAll(async () => {
  first = await RewindFixture.open({ folder: place, data: `${place}-data` });
});
afterAll(async () => {
  await first.host.stop();
  for (const folder of [place, `${place}-data`]) await rm(folder, { recursive: true, force: true });
});

/** A session of its own in the one host. */
async function fixture(
  files: Readonly<Record<string, string>> = { 'a.txt': 'one\ntwo\nthree\n' },
): Promise<RewindFixture> {
  return first.another(await repository(files));
}

const name = (uri: string) => path.basename(fileURLToPath(uri));

describe('a preview', () => {
  it('shows the files that would change with counts, and changes nothing [DAY-060]', async () => {
    const it = await fixture({ 'a.txt': 'one\ntwo\nthree\n', 'gone.txt': 'g\n' });
    const kept = await it.turn('begin', (call) => call('write_file', { path: 'before.txt', content: 'stays\n' }));
    const turnId = await it.turn('now change things', async (call) => {
      await call('edit_file', { path: 'a.txt', oldText: 'two', newText: 'TWO\nand a half' });
      await call('write_file', { path: 'new.txt', content: '1\n2\n' });
      await call('shell', { command: 'rm gone.txt' });
    });
    await it.turn('and more', (call) => call('edit_file', { path: 'a.txt', oldText: 'one', newText: 'ONE' }));
    const preview = await it.preview(turnId);
    expect(preview).toMatchObject({ chat: it.chat, turnId, turns: 2, message: 'now change things', kept: [] });
    const files = preview.files.map(({ uri, ...rest }) => ({ name: name(uri), ...rest }));
    expect(files).toEqual([
      { name: 'a.txt', does: 'change', added: 2, removed: 3 },
      { name: 'gone.txt', does: 'create', added: 1, removed: 0 },
      { name: 'new.txt', does: 'delete', added: 0, removed: 2 },
    ]);
    expect(await it.said()).toEqual(['begin', 'now change things', 'and more']);
    expect(await textOf(it.folder, 'a.txt')).toBe('ONE\nTWO\nand a half\nthree\n');
    expect((await it.preview(kept)).files.map(({ uri }) => name(uri))).toContain('before.txt');
  });

  it('lists edits of people as kept, and commands as not undone [DAY-061]', async () => {
    const it = await fixture({ 'a.txt': 'a\n', 'b.txt': 'b\n', 'c.txt': 'c\n' });
    const turnId = await it.turn('go', async (call) => {
      await call('write_file', { path: 'a.txt', content: 'A\n' });
      await call('write_file', { path: 'b.txt', content: 'B\n' });
      await call('write_file', { path: 'new.txt', content: 'N\n' });
      await call('shell', { command: 'echo C > c.txt; true' });
      await call('shell', { command: 'echo C > c.txt; true' });
      await call('read_file', { path: 'a.txt' });
    });
    await edit(it.folder, 'b.txt', 'B\nmine\n');
    await rm(path.join(it.folder, 'new.txt'));
    const { files, kept, notUndone } = await it.preview(turnId);
    expect(files.map(({ uri }) => name(uri))).toEqual(['a.txt', 'c.txt']);
    expect(kept.map(({ uri, why }) => [name(uri), why])).toEqual([['b.txt', 'it has been changed since']]);
    expect(notUndone).toEqual(['$ echo C > c.txt; true (2 times)']);
  });
});

describe('a rewind', () => {
  it("takes conversation and files back, keeps the cut turns as a fork, and people's edits [DAY-060] [DAY-061] [DAY-062]", async () => {
    const it = await fixture({ 'a.txt': 'a\n', 'b.txt': 'b\n' });
    await it.turn('begin', (call) => call('write_file', { path: 'early.txt', content: 'early\n' }));
    const turnId = await it.turn('change', async (call) => {
      await call('write_file', { path: 'a.txt', content: 'A\n' });
      await call('write_file', { path: 'b.txt', content: 'B\n' });
    });
    await it.turn('add', (call) => call('write_file', { path: 'deep/new.txt', content: 'N\n' }));
    await edit(it.folder, 'b.txt', 'mine\n');
    const { plan } = await it.preview(turnId);
    const result = await it.rewind(turnId, undefined, { plan });
    expect(result).toMatchObject({ text: 'change', files: 2 });
    expect(result.message).toBe(
      'Took back 2 turns, kept in a fork. Put back 2 files. Left alone: b.txt (it has been changed since).',
    );
    expect(await it.said()).toEqual(['begin']);
    expect(await it.said(result.fork)).toEqual(['begin', 'change', 'add']);
    expect(await it.draft()).toBe('change');
    expect([await textOf(it.folder, 'a.txt'), await textOf(it.folder, 'b.txt')]).toEqual(['a\n', 'mine\n']);
    await expect(textOf(it.folder, 'deep/new.txt')).rejects.toThrow('ENOENT');
    expect(await textOf(it.folder, 'early.txt')).toBe('early\n');
    expect(await it.shown()).toMatchObject({ state: 'done', what: 'both', fork: result.fork, message: result.message });
    // The agent goes on from there.
    expect(it.agent.truncations.length).toBeGreaterThan(0);
    expect(await it.turn('otherwise')).toBeTruthy();
    expect(await it.said()).toEqual(['begin', 'otherwise']);
    expect(await it.shown()).toBeUndefined();
  });

  it('takes back the conversation alone, or files alone, also from the first message on [DAY-060]', async () => {
    const it = await fixture({ 'a.txt': 'a\n' });
    const turnId = await it.turn('change', (call) => call('write_file', { path: 'a.txt', content: 'A\n' }));
    await it.turn('talk');
    const talked = await it.rewind(turnId, 'conversation');
    expect([await it.said(), await textOf(it.folder, 'a.txt'), talked.files]).toEqual([[], 'A\n', 0]);
    expect(await it.undo()).toBe('Undone. 2 turns are back.');
    const put = await it.rewind(turnId, 'files');
    expect([await it.said(), await textOf(it.folder, 'a.txt')]).toEqual([['change', 'talk'], 'a\n']);
    expect([put.fork, put.message]).toEqual([undefined, 'Put back 1 file.']);
    expect(await it.undo()).toBe('Undone. 1 file is as before.');
    expect(await textOf(it.folder, 'a.txt')).toBe('A\n');
  });

  it('asks again as when the message was sent: the mode that a plan was accepted with goes with the plan [DAY-123]', async () => {
    const it = await fixture();
    const modeNow = async () => (await it.client.state<SessionState>(it.uri)).config?.values.mode;
    const setMode = async (mode: string) => {
      it.client.dispatch(it.uri, { type: 'session/configChanged', config: { mode } } as never);
      await expect.poll(modeNow).toBe(mode);
    };
    await setMode('plan');
    await it.turn('one');
    const planned = await it.turn('make a plan', async (call) => {
      await call('list_files', {});
      await setMode('accept-edits');
    });
    const later = await it.turn('go on');
    await it.rewind(later, 'conversation');
    expect(await modeNow()).toBe('accept-edits');
    await it.rewind(planned, 'files');
    expect(await modeNow()).toBe('accept-edits');
    await it.rewind(planned, 'both');
    expect(await modeNow()).toBe('plan');
    await setMode('ask');
    const asked = await it.turn('in another mode');
    await setMode('plan');
    await it.rewind(asked, 'conversation');
    expect(await modeNow()).toBe('plan');
  });

  it('leaves a file alone that somebody else changed between the turns [DAY-061]', async () => {
    const it = await fixture({ 'a.txt': 'a\n' });
    const turnId = await it.turn('one', (call) => call('write_file', { path: 'a.txt', content: 'b\n' }));
    await edit(it.folder, 'a.txt', 'c\n');
    const second = await it.turn('two', (call) => call('write_file', { path: 'a.txt', content: 'd\n' }));
    expect((await it.preview(turnId)).kept.map(({ why }) => why)).toEqual([
      'something else changed it between the turns',
    ]);
    expect((await it.preview(second)).files).toHaveLength(1);
    await it.rewind(turnId);
    expect(await textOf(it.folder, 'a.txt')).toBe('d\n');
  });

  it('is refused while a turn runs, with a stale plan, for what is not there, and twice at once [DAY-060]', async () => {
    const it = await fixture({ 'a.txt': 'a\n' });
    const turnId = await it.turn('one', (call) => call('write_file', { path: 'a.txt', content: 'b\n' }));
    const { plan } = await it.preview(turnId);
    const running = await it.begin('two');
    const asked = (params: object) => it.client.ask(REWIND_METHOD, { channel: it.chat, turnId, ...params });
    expect((await asked({})).error).toMatchObject({
      code: -32004,
      message: expect.stringContaining('a turn is running'),
    });
    await running.end();
    await edit(it.folder, 'a.txt', 'mine\n');
    expect((await asked({ plan })).error).toMatchObject({
      code: -32011,
      message: expect.stringContaining('look again'),
    });
    expect((await asked({ turnId: 'none' })).error).toMatchObject({ code: -32008 });
    expect((await asked({ what: 'all' })).error).toMatchObject({ code: -32602 });
    expect((await asked({ channel: 'ahp-session:/none' })).error).toMatchObject({ code: -32001 });
    const others = await nativeClient(it.host, `phone-${crypto.randomUUID()}`);
    const both = await Promise.all([asked({}), others.ask(REWIND_METHOD, { channel: it.chat, turnId })]);
    expect(both.filter(({ error }) => error === undefined)).toHaveLength(1);
    // Nothing is left of the one that came to nothing.
    expect(await it.chats()).toHaveLength(2);
    expect(await it.said()).toEqual([]);
  });
});

describe('undoing a rewind', () => {
  it('brings back turns and files, and takes the fork away, until the next turn [DAY-062]', async () => {
    const it = await fixture({ 'a.txt': 'a\n', 'b.txt': 'b\n' });
    await it.turn('begin');
    const turnId = await it.turn('change', async (call) => {
      await call('write_file', { path: 'a.txt', content: 'A\n' });
      await call('write_file', { path: 'b.txt', content: 'B\n' });
    });
    const before = await it.client.state<ChatState>(it.chat);
    await it.rewind(turnId);
    await edit(it.folder, 'b.txt', 'mine\n');
    expect(await it.undo()).toBe(
      'Undone. 1 turn is back. 1 file is as before. Left alone: b.txt (it has been changed since).',
    );
    expect([await textOf(it.folder, 'a.txt'), await textOf(it.folder, 'b.txt')]).toEqual(['A\n', 'mine\n']);
    const after = await it.client.state<ChatState>(it.chat);
    expect(after.turns).toEqual(before.turns);
    expect([await it.draft(), await it.shown(), (await it.chats()).length]).toEqual([undefined, undefined, 1]);
    await expect(it.undo()).rejects.toThrow('nothing to undo');
    // What the agent knows is the whole conversation again.
    expect((await it.agent.history(10)).map(({ message }) => message.text)).toEqual(['begin', 'change']);
    await it.rewind(turnId, 'conversation');
    await it.turn('next');
    await expect(it.undo()).rejects.toThrow('until the next turn');
  });

  it('is followed by clients that have loaded the newest turns only, and by one that was away [DAY-062]', async () => {
    const it = await fixture({});
    const { client } = it;
    const { uri, chat } = await nativeSession(client, { provider: 'mock' });
    const ids: string[] = [];
    for (let turn = 0; turn < 112; turn += 1) ids.push(await nativeTurn(client, chat, 'hello'));
    const phone = await nativeClient(it.host, `phone-${crypto.randomUUID()}`);
    type Windowed = { snapshot: { state: ChatState } };
    const { snapshot } = await phone.request<Windowed>('subscribe', { channel: chat, turns: { last: 5 } });
    await client.request(REWIND_METHOD, { channel: uri, turnId: ids[110], what: 'conversation' });
    const { serverSeq: seen } = await phone.action(chat, 'chat/truncated');
    const early = phone.envelopes(chat).filter(({ serverSeq }) => serverSeq <= seen);
    phone.disconnect();
    await client.request(UNDO_REWIND_METHOD, { channel: uri });
    const mirrored = (envelopes: readonly { action: unknown }[], from: ChatState) =>
      envelopes.reduce((state, { action }) => chatReducer(state, action as StateAction), from);
    const back = it.host.connect();
    back.continue(phone);
    const { clientId } = phone;
    const wanted = { channel: 'ahp-root://', clientId, lastSeenServerSeq: seen, subscriptions: [chat] };
    type Replay = { type: string; actions: { channel: string; action: unknown }[] };
    const answer = await back.request<Replay>('reconnect', wanted);
    expect(answer.type).toBe('replay');
    const state = mirrored(
      answer.actions.filter(({ channel }) => channel === chat),
      mirrored(early, snapshot.state),
    );
    const whole = await client.state<ChatState>(chat);
    expect(whole.turns.map(({ id }) => id)).toEqual(ids);
    expect(whole.turnsNextCursor).toBeUndefined();
    expect(state.turns.map(({ id }) => id)).toEqual(ids.slice(-state.turns.length));
    expect(state.turns.length + Number(state.turnsNextCursor)).toBe(ids.length);
    // It has the rest, page by page, behind that.
    await back.request('fetchTurns', { channel: chat, cursor: state.turnsNextCursor });
    const { action } = await back.action(chat, 'chat/turnsLoaded');
    expect((action.turns as { id: string }[]).at(-1)?.id).toBe(ids[Number(state.turnsNextCursor) - 1]);
  });

  it('closes clients of versions that cannot say it, for a new snapshot [DAY-062]', async () => {
    const it = await fixture({});
    const turnId = await it.turn('one');
    const places = { '0.3.0': it.uri, '0.5.0': it.chat };
    const olds = await Promise.all(
      Object.entries(places).map(async ([version, channel]) => {
        const join = () => it.host.client(`old-${crypto.randomUUID()}`, { protocolVersions: [version] });
        const old = await join();
        await old.request('subscribe', { channel });
        return { old, channel, join };
      }),
    );
    await it.rewind(turnId, 'conversation');
    for (const { old, channel } of olds) await old.action(channel, ({ type }) => type.endsWith('/truncated'));
    await it.undo();
    for (const { old, channel, join } of olds) {
      await old.untilClosed();
      expect((await (await join()).state<{ turns: unknown[] }>(channel)).turns).toHaveLength(1);
    }
  });
});
