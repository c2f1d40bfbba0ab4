import { describe, expect, it } from 'vitest';
import { message, pending, reduceSession, sessionState } from '../support/builders.js';

const [a, b, c] = [pending('a'), pending('b'), pending('c')];

describe('a message is left waiting', () => {
  const set = { type: 'session/pendingMessageSet', id: 'a', userMessage: message('Now') } as const;
  const now = { id: 'a', userMessage: message('Now') };

  it('[ACT-028] to steer the turn: the last one counts', () => {
    const state = sessionState({ steeringMessage: b, queuedMessages: [a] });
    expect(reduceSession(state, { ...set, kind: 'steering' })).toStrictEqual({ ...state, steeringMessage: now });
  });

  it('[ACT-028] in a queue that begins with it', () => {
    const state = sessionState();
    expect(reduceSession(state, { ...set, kind: 'queued' })).toStrictEqual({ ...state, queuedMessages: [now] });
  });

  it('[ACT-028] at the end of the queue', () => {
    const state = sessionState({ queuedMessages: [b, c], steeringMessage: pending('s') });
    const result = reduceSession(state, { ...set, kind: 'queued' });
    expect(result).toStrictEqual({ ...state, queuedMessages: [b, c, now] });
    expect(result.queuedMessages?.[0]).toBe(b);
  });

  it('[ACT-028] in the place of the one that it amends', () => {
    const state = sessionState({ queuedMessages: [b, a, c] });
    const result = reduceSession(state, { ...set, kind: 'queued' });
    expect(result.queuedMessages).toStrictEqual([b, now, c]);
    expect(result.summary).toBe(state.summary);
  });

  it('[ACT-028] with its id and text and nothing else of the action', () => {
    const action = { ...set, kind: 'steering', urgency: 'high' } as const;
    expect(reduceSession(sessionState(), action).steeringMessage).toStrictEqual(now);
  });
});

describe('a waiting message is withdrawn', () => {
  const remove = (kind: 'steering' | 'queued', id: string) =>
    ({ type: 'session/pendingMessageRemoved', kind, id }) as const;

  it('[ACT-029] and steers no more; the key stays', () => {
    const state = sessionState({ steeringMessage: a, queuedMessages: [a] });
    expect(reduceSession(state, remove('steering', 'a'))).toStrictEqual({ ...state, steeringMessage: undefined });
  });

  it('[ACT-029] from the queue', () => {
    const state = sessionState({ steeringMessage: a, queuedMessages: [a, b, c] });
    const result = reduceSession(state, remove('queued', 'b'));
    expect(result).toStrictEqual({ ...state, queuedMessages: [a, c] });
    expect(result.summary).toBe(state.summary);
  });

  it('[ACT-029] as the last of the queue: there is no queue, but its key', () => {
    const state = sessionState({ queuedMessages: [a] });
    expect(reduceSession(state, remove('queued', 'a'))).toStrictEqual({ ...state, queuedMessages: undefined });
  });

  it('[ACT-029] which changes nothing when it does not wait there', () => {
    const state = sessionState({ steeringMessage: a, queuedMessages: [b] });
    expect(reduceSession(state, remove('steering', 'b'))).toBe(state);
    expect(reduceSession(state, remove('queued', 'a'))).toBe(state);
    const nothing = sessionState();
    expect(reduceSession(nothing, remove('steering', 'a'))).toBe(nothing);
    expect(reduceSession(nothing, remove('queued', 'a'))).toBe(nothing);
  });
});

describe('the queue is put into another order', () => {
  const reorder = (...order: string[]) => ({ type: 'session/queuedMessagesReordered', order }) as const;

  it.each([
    { order: ['c', 'a', 'b'], expected: [c, a, b], title: 'all of it' },
    { order: ['a', 'c'], expected: [a, c, b], title: 'some of it, the first in its place' },
    { order: ['c'], expected: [c, a, b], title: 'the unnamed follow in their old order' },
    { order: ['c', 'z', 'a'], expected: [c, a, b], title: 'unknown names are skipped' },
    { order: ['b', 'c', 'b', 'c'], expected: [b, c, a], title: 'the first of repeated names counts' },
  ])('[ACT-030] $title', ({ order, expected }) => {
    const state = sessionState({ queuedMessages: [a, b, c], steeringMessage: pending('s') });
    expect(reduceSession(state, reorder(...order))).toStrictEqual({ ...state, queuedMessages: expected });
  });

  it('[ACT-030] keeps the very same messages', () => {
    const result = reduceSession(sessionState({ queuedMessages: [a, b] }), reorder('b', 'a'));
    expect(result.queuedMessages?.[0]).toBe(b);
    expect(result.queuedMessages?.[1]).toBe(a);
  });

  it('[ACT-030] returns the very same state when the order stays', () => {
    const state = sessionState({ queuedMessages: [a, b, c] });
    expect(reduceSession(state, reorder())).toBe(state);
    expect(reduceSession(state, reorder('a', 'b'))).toBe(state);
  });

  it('[ACT-030] does nothing without a queue', () => {
    const state = sessionState({ steeringMessage: a });
    expect(reduceSession(state, reorder('a'))).toBe(state);
  });
});
