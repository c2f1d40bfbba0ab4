import { describe, expect, it } from 'vitest';
import type { SessionAction } from '../../src/session/actions.js';
import { SessionStatus } from '../../src/session/status.js';
import {
  BASE_FIVE,
  BEFORE,
  CALL,
  cancelled,
  completed,
  finishedTurn,
  inputRequest,
  markdown,
  message,
  NOW,
  pending,
  pendingConfirmation,
  pendingResult,
  reduceSession,
  running,
  sessionState,
  sessionSummary,
  streaming,
  TURN,
  toolPart,
  withCalls,
  withTurn,
} from '../support/builders.js';

const { Idle, Error: Failed, InProgress, InputNeeded, IsRead, IsArchived } = SessionStatus;
const HIGHER_BIT = 128;
const crash = { errorType: 'crash', message: 'The agent stopped' };

describe('the life of a session', () => {
  it('[ACT-005] becomes ready and leaves a running turn and its status alone', () => {
    const state = withTurn([], { lifecycle: 'creating' });
    expect(reduceSession(state, { type: 'session/ready' })).toStrictEqual({ ...state, lifecycle: 'ready' });
  });

  it('[ACT-005] returns the very same state when it was ready', () => {
    const state = sessionState();
    expect(reduceSession(state, { type: 'session/ready' })).toBe(state);
  });

  it('[ACT-006] records why creation failed and touches nothing else', () => {
    const state = sessionState({ lifecycle: 'creating' });
    const result = reduceSession(state, { type: 'session/creationFailed', error: crash });
    expect(result).toStrictEqual({ ...state, lifecycle: 'creationFailed', creationError: crash });
    expect(reduceSession(result, { type: 'session/creationFailed', error: crash })).toBe(result);
    expect(result.summary).toBe(state.summary);
  });
});

describe('a turn begins', () => {
  const start: SessionAction = { type: 'session/turnStarted', turnId: TURN, userMessage: message('Port the parser') };

  it('[ACT-007] with nothing in it, unread and in progress', () => {
    const state = sessionState({ summary: sessionSummary({ status: Idle | IsRead | IsArchived | HIGHER_BIT }) });
    expect(reduceSession(state, start)).toStrictEqual({
      ...state,
      summary: { ...state.summary, status: InProgress | IsArchived | HIGHER_BIT, modifiedAt: NOW },
      activeTurn: { id: TURN, userMessage: { text: 'Port the parser' }, responseParts: [], usage: undefined },
    });
  });

  it('[ACT-007] and takes the place of one that ran', () => {
    const state = withTurn([markdown('m1', 'Half an answer')]);
    const result = reduceSession(state, { ...start, turnId: 'turn-next' });
    expect(result.activeTurn?.id).toBe('turn-next');
    expect(result.activeTurn?.responseParts).toStrictEqual([]);
    expect(result.turns).toBe(state.turns);
  });

  it('[ACT-007] needing input while questions of before are open, which stay', () => {
    const state = sessionState({ inputRequests: [inputRequest('q')] });
    const result = reduceSession(state, start);
    expect(result.summary.status).toBe(InputNeeded);
    expect(result.inputRequests).toBe(state.inputRequests);
  });

  it('[ACT-007] keeps the message whole, with its attachments and metadata', () => {
    const userMessage = { text: 'See this', attachments: [], _meta: { origin: 'voice' } };
    const result = reduceSession(sessionState(), { type: 'session/turnStarted', turnId: TURN, userMessage });
    expect(result.activeTurn?.userMessage).toBe(userMessage);
  });

  it('[ACT-007] leaves waiting messages alone unless it names one', () => {
    const state = sessionState({ steeringMessage: pending('s'), queuedMessages: [pending('q')] });
    const result = reduceSession(state, start);
    expect(result.steeringMessage).toBe(state.steeringMessage);
    expect(result.queuedMessages).toBe(state.queuedMessages);
  });

  it('[ACT-007] takes the queued message that it came from out of the queue', () => {
    const state = sessionState({ queuedMessages: [pending('a'), pending('b'), pending('a', 'Again')] });
    const result = reduceSession(state, { ...start, queuedMessageId: 'a' });
    expect(result.queuedMessages).toStrictEqual([pending('b')]);
    expect(Object.keys(result)).not.toContain('steeringMessage');
  });

  it('[ACT-007] leaves no empty queue behind, but its key', () => {
    const state = sessionState({ queuedMessages: [pending('a')] });
    expect(reduceSession(state, { ...start, queuedMessageId: 'a' })).toStrictEqual({
      ...reduceSession(sessionState(), start),
      queuedMessages: undefined,
    });
  });

  it('[ACT-007] takes the steering message that it came from away, and keeps the queue', () => {
    const state = sessionState({ steeringMessage: pending('s'), queuedMessages: [pending('q')] });
    expect(reduceSession(state, { ...start, queuedMessageId: 's' })).toStrictEqual({
      ...reduceSession(state, start),
      steeringMessage: undefined,
    });
  });

  it('[ACT-007] adds no keys when nothing waits', () => {
    const state = sessionState();
    const result = reduceSession(state, { ...start, queuedMessageId: 'gone' });
    expect(result).toStrictEqual(reduceSession(state, start));
  });
});

describe('a turn ends', () => {
  const ends = [
    { id: '[ACT-017]', type: 'session/turnComplete', state: 'complete', status: Idle },
    { id: '[ACT-018]', type: 'session/turnCancelled', state: 'cancelled', status: Idle },
    { id: '[ACT-019]', type: 'session/error', state: 'error', status: Failed },
  ] as const;
  const endOf = (type: (typeof ends)[number]['type'], turnId = TURN): SessionAction =>
    type === 'session/error' ? { type, turnId, error: crash } : { type, turnId };

  it.each(ends)('$id $type moves it to history with exactly six keys', ({ type, state: ended, status }) => {
    const usage = { inputTokens: 7 };
    const before = finishedTurn('turn-before');
    const base = withTurn([markdown('m1', 'Done')], { turns: [before], inputRequests: [inputRequest('q')] });
    const state = { ...base, activeTurn: base.activeTurn && { ...base.activeTurn, usage } };
    const { inputRequests: _closed, ...rest } = state;
    expect(reduceSession(state, endOf(type))).toStrictEqual({
      ...rest,
      turns: [
        before,
        {
          id: TURN,
          userMessage: message('Port the parser'),
          responseParts: [markdown('m1', 'Done')],
          usage,
          state: ended,
          error: type === 'session/error' ? crash : undefined,
        },
      ],
      activeTurn: undefined,
      summary: { ...state.summary, status, modifiedAt: NOW },
    });
  });

  it.each(ends)('$id $type keeps all flags, also that it was read', ({ type, status }) => {
    const flags = IsRead | IsArchived | HIGHER_BIT;
    const state = withTurn([], { summary: sessionSummary({ status: InProgress | flags }) });
    expect(reduceSession(state, endOf(type)).summary.status).toBe(status | flags);
  });

  it.each(ends)('$id $type leaves waiting messages, finished turns and finished parts as they are', ({ type }) => {
    const state = withTurn([markdown('m1', 'Text'), toolPart(completed()), toolPart(cancelled())], {
      turns: [finishedTurn('turn-before')],
      steeringMessage: pending('s'),
      queuedMessages: [pending('q')],
    });
    const result = reduceSession(state, endOf(type));
    expect(result.steeringMessage).toBe(state.steeringMessage);
    expect(result.queuedMessages).toBe(state.queuedMessages);
    expect(result.turns[0]).toBe(state.turns[0]);
    const parts = result.turns[1]?.responseParts ?? [];
    expect(parts).toHaveLength(3);
    for (const [index, part] of parts.entries()) expect(part).toBe(state.activeTurn?.responseParts[index]);
  });

  it.each(ends)('$id $type does nothing to another turn, or without one', ({ type }) => {
    const state = withTurn();
    expect(reduceSession(state, endOf(type, 'turn-other'))).toBe(state);
    const idle = sessionState({ activeTurn: undefined });
    expect(reduceSession(idle, endOf(type))).toBe(idle);
  });

  const endedCall = (...calls: Parameters<typeof withCalls>) => {
    const part = reduceSession(withCalls(...calls), endOf('session/turnComplete')).turns[0]?.responseParts[0];
    return part?.kind === 'toolCall' ? part.toolCall : undefined;
  };

  it('[ACT-017] skips a call whose parameters still came in', () => {
    expect(endedCall(streaming({ partialInput: '{"fi', invocationMessage: 'Search' }))).toStrictEqual({
      status: 'cancelled',
      ...BASE_FIVE,
      invocationMessage: 'Search',
      toolInput: undefined,
      reason: 'skipped',
    });
    expect(endedCall(streaming())).toHaveProperty('invocationMessage', '');
  });

  const option = { id: 'once', label: 'Once', kind: 'approve' as const };
  it.each([
    pendingConfirmation({ options: [option], editable: true, edits: { items: [] }, confirmationTitle: 'May I?' }),
    running({ selectedOption: option, content: [{ type: 'text', text: 'So far' }] }),
    pendingResult({ selectedOption: option, content: [], error: { message: 'No' }, structuredContent: {} }),
  ])('[ACT-017] skips a call that is $status and keeps only its question', (call) => {
    expect(endedCall(call)).toStrictEqual({
      status: 'cancelled',
      ...BASE_FIVE,
      invocationMessage: call.invocationMessage,
      toolInput: call.toolInput,
      reason: 'skipped',
    });
  });

  it('[ACT-018] keeps whose call it was', () => {
    const state = withCalls(running({ toolClientId: 'desk', _meta: { shell: 'sh' } }));
    const part = reduceSession(state, endOf('session/turnCancelled')).turns[0]?.responseParts[0];
    expect(part).toMatchObject({ toolCall: { toolCallId: CALL, toolClientId: 'desk', _meta: { shell: 'sh' } } });
  });

  it('[ACT-019] is forgotten by the next turn', () => {
    const failed = reduceSession(withTurn(), endOf('session/error'));
    const start: SessionAction = { type: 'session/turnStarted', turnId: 'turn-next', userMessage: message('Again') };
    expect(failed.summary.status).toBe(Failed);
    expect(reduceSession(failed, start).summary.status).toBe(InProgress);
  });
});

describe('history is cut', () => {
  const turns = [finishedTurn('one'), finishedTurn('two'), finishedTurn('three')];

  it('[ACT-038] after the named turn', () => {
    const state = sessionState({ turns, summary: sessionSummary({ status: Failed | IsRead }) });
    const result = reduceSession(state, { type: 'session/truncated', turnId: 'two' });
    expect(result).toStrictEqual({
      ...state,
      turns: turns.slice(0, 2),
      activeTurn: undefined,
      summary: { ...state.summary, status: Idle | IsRead, modifiedAt: NOW },
    });
    expect(result.turns[0]).toBe(turns[0]);
  });

  it('[ACT-038] altogether when no turn is named', () => {
    const result = reduceSession(sessionState({ turns }), { type: 'session/truncated' });
    expect(result.turns).toStrictEqual([]);
  });

  it('[ACT-038] together with the running turn and its questions, also when no finished turn goes', () => {
    const state = withTurn([], { turns, inputRequests: [inputRequest('q')], queuedMessages: [pending('q')] });
    const { inputRequests: _closed, ...rest } = state;
    expect(reduceSession(state, { type: 'session/truncated', turnId: 'three' })).toStrictEqual({
      ...rest,
      activeTurn: undefined,
      summary: { ...state.summary, status: Idle, modifiedAt: NOW },
    });
  });

  it.each(['unknown', '', TURN])('[ACT-038] not at all at a turn that is not among the finished ones: %s', (turnId) => {
    const state = withTurn([], { turns });
    expect(reduceSession(state, { type: 'session/truncated', turnId })).toBe(state);
    expect(state.summary.modifiedAt).toBe(BEFORE);
  });
});
