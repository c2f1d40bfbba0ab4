import { describe, expect, it } from 'vitest';
import type { SessionAction } from '../../src/session/actions.js';
import { sessionReducer } from '../../src/session/reducer.js';
import type { ResponsePart } from '../../src/session/turns.js';
import {
  CALL,
  finishedTurn,
  markdown,
  pendingConfirmation,
  reasoning,
  reduceSession,
  running,
  sessionState,
  TURN,
  toolPart,
  withTurn,
} from '../support/builders.js';

const appendTo = (type: 'session/delta' | 'session/reasoning', partId: string, content = ' more'): SessionAction => ({
  type,
  turnId: TURN,
  partId,
  content,
});

const kinds = [
  { id: '[ACT-008]', type: 'session/delta', part: markdown, other: reasoning },
  { id: '[ACT-022]', type: 'session/reasoning', part: reasoning, other: markdown },
] as const;

describe.each(kinds)('$type', ({ id, type, part, other }) => {
  it(`${id} appends to the part and changes nothing else`, () => {
    const state = withTurn([part('a', 'One'), part('b', 'Two')]);
    const result = reduceSession(state, appendTo(type, 'b'));
    expect(result).toStrictEqual({
      ...state,
      activeTurn: { ...state.activeTurn, responseParts: [part('a', 'One'), part('b', 'Two more')] },
    });
  });

  it(`${id} shares the finished turns, the summary and every other part`, () => {
    const state = withTurn([part('a', 'One'), toolPart(running()), part('b', 'Two')], { turns: [finishedTurn('t')] });
    const result = reduceSession(state, appendTo(type, 'b'));
    expect(result.turns).toBe(state.turns);
    expect(result.summary).toBe(state.summary);
    expect(result.activeTurn?.responseParts[0]).toBe(state.activeTurn?.responseParts[0]);
    expect(result.activeTurn?.responseParts[1]).toBe(state.activeTurn?.responseParts[1]);
  });

  it(`${id} keeps members of the part that it does not know`, () => {
    const spoken = { ...part('a', 'One'), voice: 'calm' };
    const result = reduceSession(withTurn([spoken]), appendTo(type, 'a'));
    expect(result.activeTurn?.responseParts).toStrictEqual([{ ...spoken, content: 'One more' }]);
  });

  it(`${id} considers only the first part with the id`, () => {
    const twice = withTurn([part('a', 'One'), part('a', 'Two')]);
    expect(reduceSession(twice, appendTo(type, 'a')).activeTurn?.responseParts).toStrictEqual([
      part('a', 'One more'),
      part('a', 'Two'),
    ]);
    const wrongKind = withTurn([other('a', 'One'), part('a', 'Two')]);
    expect(reduceSession(wrongKind, appendTo(type, 'a'))).toBe(wrongKind);
  });

  it(`${id} knows a tool call by its call id, and does not write to it`, () => {
    const state = withTurn([toolPart(running()), part(CALL, 'Two')]);
    expect(reduceSession(state, appendTo(type, CALL))).toBe(state);
  });

  it(`${id} passes over parts without an id and parts of a kind that it does not know`, () => {
    const strange = { kind: 'hologram' } as unknown as ResponsePart;
    const notice: ResponsePart = { kind: 'systemNotification', content: 'Compacted' };
    const state = withTurn([strange, notice, { kind: 'contentRef', uri: 'file:///a' }, part('a', 'One')]);
    const result = reduceSession(state, appendTo(type, 'a'));
    expect(result.activeTurn?.responseParts[3]).toStrictEqual(part('a', 'One more'));
    expect(result.activeTurn?.responseParts[0]).toBe(strange);
  });

  it(`${id} does nothing for an unknown part, another turn, no turn, or no text`, () => {
    const state = withTurn([part('a', 'One')]);
    expect(reduceSession(state, appendTo(type, 'z'))).toBe(state);
    expect(reduceSession(state, { type, turnId: 'turn-other', partId: 'a', content: '!' })).toBe(state);
    expect(reduceSession(state, appendTo(type, 'a', ''))).toBe(state);
    const idle = sessionState();
    expect(reduceSession(idle, appendTo(type, 'a'))).toBe(idle);
  });
});

describe('session/responsePart', () => {
  it('[ACT-009] appends the part as it came, whatever its kind and id', () => {
    const strange = { kind: 'hologram', id: 'a' } as unknown as ResponsePart;
    const state = withTurn([markdown('a', 'One')]);
    const result = reduceSession(state, { type: 'session/responsePart', turnId: TURN, part: strange });
    expect(result).toStrictEqual({
      ...state,
      activeTurn: { ...state.activeTurn, responseParts: [markdown('a', 'One'), strange] },
    });
    expect(result.activeTurn?.responseParts[1]).toBe(strange);
    expect(result.activeTurn?.responseParts[0]).toBe(state.activeTurn?.responseParts[0]);
  });

  it('[ACT-009] leaves the status alone, even for a call that waits for a person', () => {
    const state = withTurn();
    const part = toolPart(pendingConfirmation());
    const result = reduceSession(state, { type: 'session/responsePart', turnId: TURN, part });
    expect(result.activeTurn?.responseParts).toStrictEqual([part]);
    expect(result.summary).toBe(state.summary);
  });

  it('[ACT-009] does nothing for another turn, or without one', () => {
    const late: SessionAction = { type: 'session/responsePart', turnId: 'turn-other', part: markdown('a', '') };
    const state = withTurn();
    expect(reduceSession(state, late)).toBe(state);
    const idle = sessionState();
    expect(reduceSession(idle, late)).toBe(idle);
  });
});

describe('session/usage', () => {
  it('[ACT-021] replaces what was counted before', () => {
    const first = reduceSession(withTurn(), { type: 'session/usage', turnId: TURN, usage: { inputTokens: 5 } });
    const second = reduceSession(first, { type: 'session/usage', turnId: TURN, usage: { outputTokens: 3 } });
    expect(first.activeTurn?.usage).toStrictEqual({ inputTokens: 5 });
    expect(second.activeTurn?.usage).toStrictEqual({ outputTokens: 3 });
    expect(second.activeTurn?.responseParts).toBe(first.activeTurn?.responseParts);
    expect(second.summary).toBe(first.summary);
  });

  it('[ACT-021] returns the very same state for the very same count, and for another turn', () => {
    const usage = { inputTokens: 5 };
    const state = reduceSession(withTurn(), { type: 'session/usage', turnId: TURN, usage });
    expect(reduceSession(state, { type: 'session/usage', turnId: TURN, usage })).toBe(state);
    expect(reduceSession(state, { type: 'session/usage', turnId: 'turn-other', usage: {} })).toBe(state);
  });
});

it.each(['session/usage', 'session/turnComplete', 'session/responsePart', 'session/delta', 'session/toolCallStart'])(
  '%s without a turn id does nothing when no turn is running',
  (type) => {
    const state = sessionState();
    expect(sessionReducer(state, { type }, { now: 1 })).toBe(state);
  },
);
