import { ErrorCode, type SessionSummary } from '@atrium/protocol/ahp-1';
import { describe, expect, it } from 'vitest';
import type { FirstState } from '../../src/sessions/creation.js';
import { SUMMARY_MAX_CHARACTERS } from '../../src/sessions/limits.js';
import {
  gathered,
  IMPORT_MAX_TURNS,
  IMPORT_TURN_MAX_CHARACTERS,
  readImportPage,
  withPast,
} from '../../src/sessions/session-import.js';

const turn = (id: string) => ({
  ...{ id, message: { text: 'hello', origin: { kind: 'user' } }, responseParts: [], state: 'complete' },
});
const TIMES = { createdAt: '2026-01-01T00:00:00.000Z', modifiedAt: '2026-01-02T00:00:00.000Z' };
const summary = { ...{ resource: 'ahp-session:/s', provider: 'p', title: 'Title', status: 1 }, ...TIMES };
/** As hosts before 1.0 exported it. */
const olderTurn = (id: string) => ({
  ...{ id, userMessage: { text: 'hello' }, responseParts: [], state: 'complete' },
});
const olderSummary = {
  ...{ resource: 'ahp-session:/s', provider: 'p', title: 'Title', status: 1, model: { id: 'm' } },
  ...{
    createdAt: Date.parse(TIMES.createdAt),
    modifiedAt: Date.parse(TIMES.modifiedAt),
    workingDirectory: 'file:///w',
  },
};
const page = (params: object) => readImportPage({ channel: 's', start: 0, turns: [], ...params }, {});
const refused = (params: object, words: RegExp) =>
  expect(() => page(params)).toThrow(
    expect.objectContaining({ code: ErrorCode.InvalidParams, message: expect.stringMatching(words) }),
  );

describe('a page of a session that comes from elsewhere', () => {
  it('has turns, and the summary with the last', () => {
    expect(page({ start: 3, turns: [turn('a'), turn('b')] })).toMatchObject({
      ...{ channel: 's', start: 3, summary: undefined },
      turns: [{ id: 'a', json: expect.stringContaining('"hello"') }, { id: 'b' }],
    });
    expect(page({ start: IMPORT_MAX_TURNS, state: { summary } })).toMatchObject({
      turns: [],
      summary: { title: 'Title' },
    });
  });

  it('may come from a host before 1.0', () => {
    const { turns = [], summary: read } = page({ turns: [olderTurn('a')], state: { summary: olderSummary } }) ?? {};
    expect(turns.map(({ json }) => JSON.parse(json))).toMatchObject([
      { id: 'a', message: { text: 'hello', origin: { kind: 'user' } }, responseParts: [], state: 'complete' },
    ]);
    expect(read).toMatchObject({ title: 'Title', workingDirectories: ['file:///w'], ...TIMES });
    expect(read?._meta).toEqual({ 'atrium.selection': { model: { id: 'm' } } });
    refused({ turns: [olderTurn('a'), olderTurn('a')] }, /different ids/);
    refused({ turns: [olderTurn('a'), turn('b')] }, /turns/);
  });

  it('is refused when it makes no sense', () => {
    refused({ channel: 7 }, /channel/);
    for (const start of ['0', -1, 0.5, IMPORT_MAX_TURNS + 1]) refused({ start }, /start/);
    refused({ turns: undefined }, /^atrium\/importSession: \/turns/);
    for (const turns of [[{ id: 'a' }], ['text'], [null], [7], 'text']) refused({ turns }, /turns/);
    refused({ turns: [turn('a'), turn('a')] }, /different ids/);
    for (const state of ['text', null, {}, { summary: {} }])
      refused({ state }, /^atrium\/importSession: \/state\/summary: \//);
    const title = 'x'.repeat(SUMMARY_MAX_CHARACTERS);
    refused({ state: { summary: { ...summary, title } } }, /characters/);
    const room = SUMMARY_MAX_CHARACTERS - JSON.stringify({ ...summary, title: '' }).length;
    expect(page({ state: { summary: { ...summary, title: 'x'.repeat(room) } } })).toBeDefined();
    refused({ state: { summary: { ...summary, title: 'x'.repeat(room + 1) } } }, /characters/);
  });

  it('has dates, all of one form: lists are sorted by them', () => {
    const read = (modifiedAt: string) => page({ state: { summary: { ...summary, modifiedAt } } })?.summary?.modifiedAt;
    expect([read('2026-01-02T01:00:00+01:00'), read('2026-01-02')]).toEqual(Array(2).fill(TIMES.modifiedAt));
    for (const modifiedAt of ['zzz', '', '+012026-01-01T00:00:00.000Z'])
      for (const member of ['createdAt', 'modifiedAt'])
        refused({ state: { summary: { ...summary, [member]: modifiedAt } } }, /must be dates$/);
    refused({ state: { summary: { ...olderSummary, modifiedAt: -1e15 } } }, /must be dates$/);
  });

  it('with a large turn comes in pieces', () => {
    const sender = {};
    const text = JSON.stringify(turn('large'));
    const piece = (at: number, part: string, isLast: boolean) =>
      readImportPage({ channel: 's', start: 5, piece: { at, text: part, isLast } }, sender);
    expect(piece(0, text.slice(0, 9), false)).toBeUndefined();
    expect(piece(9, text.slice(9), true)).toMatchObject({ start: 5, turns: [{ id: 'large' }] });
    expect(() => piece(0, '{', true)).toThrow('JSON of a turn');
    for (const wrong of [null, {}, { at: 0, text: 'x' }, { at: '0', text: 'x', isLast: true }, { at: 0, isLast: true }])
      refused({ piece: wrong }, /piece/);
    refused({ piece: { at: 4, text: 'x', isLast: true } }, /must follow/);
  });
});

describe('pieces of a turn', () => {
  const piece = { channel: 's', start: 0, at: 0, text: 'ab', isLast: false };

  it.each([
    ['another channel', { channel: 't' }],
    ['another turn', { start: 1 }],
    ['another place', { at: 3 }],
  ])('fit together: not with %s, and not after that', (_, change) => {
    const sender = {};
    expect(gathered(sender, piece)).toEqual({});
    expect(gathered(sender, { ...piece, at: 2, ...change }).problem).toMatch(/must follow/);
    expect(gathered(sender, { ...piece, at: 2 }).problem).toMatch(/must follow/);
  });

  it('come from one sender', () => {
    gathered({}, piece);
    expect(gathered({}, { ...piece, at: 2 }).problem).toMatch(/must follow/);
  });

  it('are whole with the last', () => {
    const sender = {};
    gathered(sender, piece);
    expect(gathered(sender, { ...piece, at: 2, text: 'cd' })).toEqual({});
    expect(gathered(sender, { ...piece, at: 4, text: 'e', isLast: true })).toEqual({ json: 'abcde' });
    expect(gathered(sender, { ...piece, at: 5, isLast: true }).problem).toBeDefined();
  });

  it('[REL-098] are bounded together', () => {
    const most = 'x'.repeat(IMPORT_TURN_MAX_CHARACTERS);
    expect(gathered({}, { ...piece, text: most }).problem).toBeUndefined();
    expect(gathered({}, { ...piece, text: `${most}x` }).problem).toMatch(/more than/);
    const sender = {};
    gathered(sender, { ...piece, text: most });
    expect(gathered(sender, { ...piece, at: most.length, text: 'x', isLast: true }).problem).toMatch(/more than/);
  });
});

describe('a session that was imported', () => {
  it('has the name and the dates of the old one, and nothing else of it', () => {
    const now = '2026-03-03T00:00:00.000Z';
    const state = {
      session: { provider: 'p', title: '', status: 1 },
      chat: { resource: 'c', title: '', status: 1, modifiedAt: now, turns: [] },
      summary: { ...summary, title: '', createdAt: now, modifiedAt: now },
    } as unknown as FirstState;
    const past = { ...summary, provider: 'other', status: 32, activity: 'x', _meta: {} } as SessionSummary;
    expect(withPast(state, past)).toEqual({
      session: { ...state.session, title: 'Title' },
      chat: { ...state.chat, modifiedAt: TIMES.modifiedAt },
      summary,
    });
  });

  it('was not changed later than now', () => {
    const now = TIMES.modifiedAt;
    const state = { session: {}, chat: {}, summary: { createdAt: now, modifiedAt: now } } as unknown as FirstState;
    const later = '9999-01-01T00:00:00.000Z';
    const past = { ...summary, createdAt: later, modifiedAt: later } as SessionSummary;
    expect(withPast(state, past)).toMatchObject({
      ...{ chat: { modifiedAt: now }, summary: { createdAt: now, modifiedAt: now } },
    });
  });
});
