import { describe, expect, it } from 'vitest';
import { sessionsV1 } from '../../../src/dialects/sessions-v1/codec.js';
import { ErrorCode } from '../../../src/errors/codes.js';
import { finishedTurn, markdown, sessionState } from '../../support/builders.js';
import { CHANNEL, forwarded, hostWith, WIRE_SESSION } from './scenes.js';

const view = hostWith(sessionState());
const turns = [finishedTurn('t3', { responseParts: [markdown('p', 'Done')] })];

function fetchTurns(params: Record<string, unknown>) {
  return sessionsV1.request({ method: 'fetchTurns', params: { session: WIRE_SESSION, ...params } }, {}, view);
}

describe('sessions-v1 history', () => {
  it.each([
    ['nothing', {}, {}],
    ['a page', { before: 't4', limit: 2 }, { before: 't4', limit: 2 }],
    ['a page in a range', { range: { before: 't4' } }, { before: 't4' }],
  ])('[V1-014] asked for by %s is passed on', (_name, asked, passed) => {
    expect(forwarded(fetchTurns(asked)).params).toEqual({ channel: CHANNEL, ...passed });
  });

  it.each([
    ['start and end', { start: 2, end: 4 }, { start: 2, end: 4 }],
    ['start alone', { start: 2 }, { start: 2 }],
    ['end alone', { end: 4 }, { start: 0, end: 4 }],
    ['startTurn and count', { startTurn: 2, count: 3 }, { start: 2, end: 5 }],
    ['a range', { range: { start: 1, end: 2 } }, { start: 1, end: 2 }],
    ['a range with nulls', { range: { start: 1, end: null, before: null } }, { start: 1 }],
    ['a range of turns', { range: { startTurn: 1, count: 0 } }, { start: 1, end: 1 }],
  ])('[V1-014] asked for by %s is a slice', (_name, asked, range) => {
    expect(forwarded(fetchTurns(asked)).params).toEqual({ channel: CHANNEL, range });
  });

  it('[V1-014] by page is answered as a page of mapped turns', () => {
    const reply = forwarded(fetchTurns({ limit: 1 })).encodeResult({ turns, hasMore: true }, view);
    expect(reply).toEqual({ turns: [expect.objectContaining({ id: 't3', responseText: 'Done' })], hasMore: true });
  });

  it('[V1-014] by index is answered with its place', () => {
    const result = { turns, hasMore: true, startTurn: 2, totalTurns: 3 };
    expect(forwarded(fetchTurns({ start: 2 })).encodeResult(result, view)).toMatchObject({
      session: WIRE_SESSION,
      startTurn: 2,
      totalTurns: 3,
      turns: [{ id: 't3' }],
      hasMore: true,
    });
  });

  it.each([{ start: -1 }, { start: 'first' }, { startTurn: 0.5 }, { count: '2' }, { session: 3 }])(
    '[V1-014] refuses what it cannot read: %o',
    (params) => {
      expect(fetchTurns(params)).toMatchObject({ kind: 'fail', error: { code: ErrorCode.InvalidParams } });
    },
  );
});
