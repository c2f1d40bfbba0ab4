/** The chat reducer: turns, the streamed answer, history. */
import { describe, expect, it } from 'vitest';
import type { ChatAction, ErrorResponsePart, ResponsePart, ToolCallState } from '../../../src/ahp-1/index.js';
import { SessionStatus } from '../../../src/ahp-1/index.js';
import {
  authRequired,
  BEFORE,
  cancelled,
  chatState,
  completed,
  finishedTurn,
  markdown,
  message,
  PARAMETERS,
  partsOf,
  pending,
  pendingConfirmation,
  pendingResult,
  question,
  questionPart,
  reduceChat,
  running,
  STARTED,
  STARTED_CALL,
  streaming,
  TURN,
  toolPart,
  withTurn,
} from '../support/builders.js';

const { Idle, Error: Failed, InProgress, InputNeeded, IsRead, IsArchived } = SessionStatus;
const HIGHER_BIT = 128;
const flags = IsArchived | HIGHER_BIT;
const LATER = '2026-10-01T08:15:32.500Z';
const errorPart = (resumable?: boolean): ErrorResponsePart => ({
  kind: 'error',
  error: { errorType: 'crash', message: 'The agent stopped' },
  ...(resumable !== undefined && { resumable }),
});

describe('a turn begins', () => {
  const start: ChatAction = {
    type: 'chat/turnStarted',
    turnId: TURN,
    startedAt: STARTED,
    message: message('Port the parser', { model: { id: 'm', config: { effort: 2 } } }),
  };

  it('[UP-110] [UP-083] empty, unread, in progress, at the time that the action gives', () => {
    const state = chatState({ status: Idle | IsRead | flags });
    expect(reduceChat(state, start)).toStrictEqual({
      ...state,
      status: InProgress | flags,
      modifiedAt: STARTED,
      activeTurn: { id: TURN, startedAt: STARTED, message: start.message, responseParts: [] },
    });
  });

  it('[UP-110] takes the place of one that ran, and forgets a failure', () => {
    const state = withTurn([questionPart(question('q'))], { status: InputNeeded });
    const result = reduceChat(state, { ...start, turnId: 'turn-next' });
    expect(result.activeTurn).toMatchObject({ id: 'turn-next', responseParts: [] });
    expect(result.status).toBe(InProgress);
    expect(reduceChat(chatState({ status: Failed }), start).status).toBe(InProgress);
  });

  it('[UP-110] not again when it runs or has ended', () => {
    const active = withTurn([markdown('m', 'Half')], { status: InProgress | IsRead });
    expect(reduceChat(active, start)).toBe(active);
    const over = chatState({ turns: [finishedTurn('other'), finishedTurn(TURN)] });
    expect(reduceChat(over, start)).toBe(over);
  });

  it('[UP-110] takes the waiting message that it came from away, of either kind', () => {
    const state = chatState({ steeringMessage: pending('s'), queuedMessages: [pending('a'), pending('b')] });
    const queued = reduceChat(state, { ...start, queuedMessageId: 'a' });
    expect(queued.queuedMessages).toStrictEqual([pending('b')]);
    expect(queued.steeringMessage).toStrictEqual(pending('s'));
    const steered = reduceChat(state, { ...start, queuedMessageId: 's' });
    expect(steered).not.toHaveProperty('steeringMessage');
    expect(steered.queuedMessages).toBe(state.queuedMessages);
    const last = reduceChat(chatState({ queuedMessages: [pending('a')] }), { ...start, queuedMessageId: 'a' });
    expect(last).not.toHaveProperty('queuedMessages');
    const stranger = reduceChat(state, { ...start, queuedMessageId: 'gone' });
    expect(stranger.queuedMessages).toBe(state.queuedMessages);
  });
});

describe('the answer streams in', () => {
  const reasoning: ResponsePart = { kind: 'reasoning', id: 'r', content: 'Hm' };
  const notice: ResponsePart = { kind: 'systemNotification', content: 'Note' };
  const strange = { kind: 'later' } as unknown as ResponsePart;
  const state = withTurn([
    notice,
    strange,
    markdown('m', 'One'),
    reasoning,
    toolPart(running()),
    markdown('m', 'Twin'),
  ]);

  it('[UP-111] into the first part of that id, which alone is copied', () => {
    const grown = reduceChat(state, { type: 'chat/delta', turnId: TURN, partId: 'm', content: ' two' });
    expect(partsOf(grown)[2]).toStrictEqual(markdown('m', 'One two'));
    expect(partsOf(grown).filter((part) => !partsOf(state).includes(part))).toHaveLength(1);
    expect(grown.turns).toBe(state.turns);
    const thought = reduceChat(state, { type: 'chat/reasoning', turnId: TURN, partId: 'r', content: ', yes' });
    expect(partsOf(thought)[3]).toStrictEqual({ kind: 'reasoning', id: 'r', content: 'Hm, yes' });
  });

  it.each([
    ['of the wrong kind', { type: 'chat/delta', turnId: TURN, partId: 'r', content: 'x' }],
    ['of the other wrong kind', { type: 'chat/reasoning', turnId: TURN, partId: 'm', content: 'x' }],
    ['that is a tool call', { type: 'chat/delta', turnId: TURN, partId: 'call-1', content: 'x' }],
    ['that is not there', { type: 'chat/delta', turnId: TURN, partId: 'gone', content: 'x' }],
    ['of another turn', { type: 'chat/delta', turnId: 'other', partId: 'm', content: 'x' }],
    ['by nothing', { type: 'chat/delta', turnId: TURN, partId: 'm', content: '' }],
  ] as [string, ChatAction][])('[UP-111] not into a part %s', (_what, action) => {
    expect(reduceChat(state, action)).toBe(state);
  });

  it('[UP-111] not without a turn', () => {
    const idle = chatState();
    expect(reduceChat(idle, { type: 'chat/delta', turnId: TURN, partId: 'm', content: 'x' })).toBe(idle);
  });

  it('[UP-112] part by part, whatever their kind, but never an error', () => {
    const later = { kind: 'later', data: 1 } as unknown as ResponsePart;
    const added = reduceChat(state, { type: 'chat/responsePart', turnId: TURN, part: later });
    expect(partsOf(added)).toEqual([...partsOf(state), later]);
    expect(added.status).toBe(state.status);
    expect(reduceChat(state, { type: 'chat/responsePart', turnId: TURN, part: errorPart() })).toBe(state);
    expect(reduceChat(state, { type: 'chat/responsePart', turnId: 'other', part: later })).toBe(state);
  });

  it('[UP-116] with the tokens used so far', () => {
    const usage = { inputTokens: 7 };
    const counted = reduceChat(state, { type: 'chat/usage', turnId: TURN, usage });
    expect(counted.activeTurn?.usage).toBe(usage);
    expect(reduceChat(counted, { type: 'chat/usage', turnId: TURN, usage })).toBe(counted);
    expect(reduceChat(state, { type: 'chat/usage', turnId: 'other', usage })).toBe(state);
  });
});

describe('a turn ends', () => {
  const ends = [
    {
      id: '[UP-113]',
      action: { type: 'chat/turnComplete', turnId: TURN, duration: 2500 },
      ended: 'complete',
      to: Idle,
    },
    {
      id: '[UP-113]',
      action: { type: 'chat/turnCancelled', turnId: TURN, duration: 2500 },
      ended: 'cancelled',
      to: Idle,
    },
    {
      id: '[UP-114]',
      action: { type: 'chat/error', turnId: TURN, duration: 2500, part: errorPart(true) },
      ended: 'error',
      to: Failed,
    },
  ] as const;

  it.each(ends)('$id [UP-108] $action.type moves it to history with its times', ({ action, ended, to }) => {
    const usage = { outputTokens: 3 };
    const before = finishedTurn('before');
    const running = withTurn([markdown('m', 'Done')], { turns: [before], status: InProgress | IsRead | flags });
    const state = { ...running, activeTurn: running.activeTurn && { ...running.activeTurn, usage, colour: 'red' } };
    const { activeTurn: _ended, ...rest } = state;
    const parts = [markdown('m', 'Done'), ...('part' in action ? [action.part] : [])];
    expect(reduceChat(state, action)).toStrictEqual({
      ...rest,
      status: to | IsRead | flags,
      modifiedAt: LATER,
      turns: [
        before,
        {
          id: TURN,
          startedAt: STARTED,
          duration: 2500,
          message: message('Port the parser'),
          responseParts: parts,
          usage,
          colour: 'red',
          state: ended,
        },
      ],
    });
  });

  it.each(ends)('[UP-108] $action.type does nothing to another turn, or without one', ({ action }) => {
    const state = withTurn();
    expect(reduceChat(state, { ...action, turnId: 'other' })).toBe(state);
    const idle = chatState({ status: Failed });
    expect(reduceChat(idle, action)).toBe(idle);
  });

  const complete = (duration: number): ChatAction => ({ type: 'chat/turnComplete', turnId: TURN, duration });

  it('[UP-108] never took less than nothing', () => {
    const result = reduceChat(withTurn(), complete(-1));
    expect(result.turns[0]?.duration).toBe(0);
    expect(result.modifiedAt).toBe(STARTED);
  });

  it.each([
    ['no moment', 'yesterday', 5],
    ['a moment that no calendar has', STARTED, Number.MAX_SAFE_INTEGER],
  ])('[UP-108] keeps the time of the chat when its end is %s', (_what, startedAt, duration) => {
    const running = withTurn();
    const state = { ...running, activeTurn: running.activeTurn && { ...running.activeTurn, startedAt } };
    const result = reduceChat(state, complete(duration));
    expect(result.modifiedAt).toBe(BEFORE);
    expect(result.turns[0]).toMatchObject({ startedAt, duration });
  });

  const endedCall = (call: ToolCallState) => {
    const [part] = reduceChat(withTurn([toolPart(call)]), complete(1)).turns[0]?.responseParts ?? [];
    return part?.kind === 'toolCall' ? part.toolCall : undefined;
  };
  const option = { id: 'once', label: 'Once', kind: 'approve' } as const;

  it.each([
    pendingConfirmation({ options: [option], editable: true, edits: { items: [] }, confirmationTitle: 'May I?' }),
    running({ selectedOption: option, content: [{ type: 'text', text: 'So far' }] }),
    authRequired({ contributor: { kind: 'mcp', customizationId: 's' } }),
    pendingResult({ selectedOption: option, content: [], error: { message: 'No' } }),
  ])('[UP-108] skips a call that is $status and keeps only what it was for', (call) => {
    expect(endedCall(call)).toStrictEqual({
      status: 'cancelled',
      ...STARTED_CALL,
      ...(call.contributor && { contributor: call.contributor }),
      ...PARAMETERS,
      reason: 'skipped',
    });
  });

  it('[UP-108] skips a call whose parameters still came in; it may have no words yet', () => {
    const base = { intention: 'Find', contributor: { kind: 'client', clientId: 'desk' }, _meta: { a: 1 } } as const;
    expect(endedCall(streaming({ ...base, partialInput: '{"fi' }))).toStrictEqual({
      status: 'cancelled',
      ...STARTED_CALL,
      ...base,
      invocationMessage: '',
      reason: 'skipped',
    });
    expect(endedCall(streaming({ invocationMessage: 'Search' }))).toHaveProperty('invocationMessage', 'Search');
  });

  it('[UP-108] leaves finished calls, calls of an unknown state and open questions as they are', () => {
    const strange = { ...running(), status: 'paused' } as unknown as ToolCallState;
    const parts = [toolPart(completed()), toolPart(cancelled()), toolPart(strange), questionPart(question('q'))];
    const result = reduceChat(withTurn(parts, { status: InputNeeded }), complete(1));
    expect(result.turns[0]?.responseParts).toStrictEqual(parts);
    expect(result.status).toBe(Idle);
  });
});

describe('a failed turn goes on', () => {
  const resume: ChatAction = { type: 'chat/turnResume', turnId: 'failed' };
  const failed = finishedTurn('failed', {
    startedAt: STARTED,
    duration: 9,
    state: 'error',
    usage: { inputTokens: 1 },
    responseParts: [markdown('m', 'Half'), errorPart(true)],
  });
  const state = chatState({ turns: [finishedTurn('first'), failed], status: Failed | IsRead | flags });

  it('[UP-115] with its parts, its tokens and its start', () => {
    const { state: _ended, duration: _soFar, ...kept } = failed;
    expect(reduceChat(state, resume)).toStrictEqual({
      ...state,
      turns: [finishedTurn('first')],
      activeTurn: kept,
      status: InProgress | flags,
    });
  });

  it('[UP-115] from the last change of the chat when its start is not known', () => {
    const { startedAt: _unknown, ...old } = failed;
    expect(reduceChat(chatState({ turns: [old] }), resume).activeTurn?.startedAt).toBe(BEFORE);
  });

  it('[UP-115] waiting for input when a question is open', () => {
    const asked = { ...failed, responseParts: [questionPart(question('q')), errorPart(true)] };
    expect(reduceChat(chatState({ turns: [asked] }), resume).status).toBe(InputNeeded);
  });

  it.each([
    ['while a turn is active', { activeTurn: withTurn().activeTurn }],
    ['when it is not the last', { turns: [failed, finishedTurn('last')] }],
    ['when it did not fail', { turns: [{ ...failed, state: 'complete' as const }] }],
    ['when its error is final', { turns: [{ ...failed, responseParts: [errorPart(false)] }] }],
    ['when its error does not say', { turns: [{ ...failed, responseParts: [errorPart()] }] }],
    [
      'when something follows its error',
      { turns: [{ ...failed, responseParts: [errorPart(true), markdown('m', '')] }] },
    ],
    ['when it has no parts', { turns: [{ ...failed, responseParts: [] }] }],
    ['when there are no turns', { turns: [] }],
  ])('[UP-115] not %s', (_what, members) => {
    const other = chatState({ turns: state.turns, ...members });
    expect(reduceChat(other, resume)).toBe(other);
  });
});

describe('history', () => {
  const turns = [finishedTurn('one'), finishedTurn('two'), finishedTurn('three')];

  it('[UP-135] is cut after the named turn, and the active turn goes', () => {
    const state = withTurn([questionPart(question('q'))], {
      turns,
      turnsNextCursor: 'older',
      status: InputNeeded | IsRead | flags,
    });
    const { activeTurn: _dropped, ...rest } = state;
    const result = reduceChat(state, { type: 'chat/truncated', turnId: 'two' });
    expect(result).toStrictEqual({ ...rest, turns: turns.slice(0, 2), status: Idle | IsRead | flags });
    expect(result.turns[0]).toBe(turns[0]);
  });

  it('[UP-135] is cut altogether when no turn is named: there are no older turns either', () => {
    const state = chatState({ turns, turnsNextCursor: 'older', status: Failed });
    expect(reduceChat(state, { type: 'chat/truncated' })).toStrictEqual(chatState());
    const told = { type: 'chat/truncated', turnId: null } as unknown as ChatAction;
    expect(reduceChat(state, told)).toStrictEqual(chatState());
  });

  it('[UP-135] is not cut at a turn that is not there, nor when nothing follows', () => {
    const state = chatState({ turns });
    expect(reduceChat(state, { type: 'chat/truncated', turnId: 'gone' })).toBe(state);
    expect(reduceChat(state, { type: 'chat/truncated', turnId: 'three' })).toBe(state);
    const empty = chatState();
    expect(reduceChat(empty, { type: 'chat/truncated' })).toBe(empty);
  });

  it('[UP-136] gets older turns in front, each once, and the next cursor', () => {
    const state = chatState({ turns: turns.slice(1), turnsNextCursor: 'page-2' });
    const page = [finishedTurn('zero'), finishedTurn('one'), finishedTurn('two', { state: 'error' })];
    const loaded = reduceChat(state, { type: 'chat/turnsLoaded', turns: page, turnsNextCursor: 'page-1' });
    expect(loaded).toStrictEqual({ ...state, turns: [page[0], page[1], ...turns.slice(1)], turnsNextCursor: 'page-1' });
    expect(loaded.turns[2]).toBe(turns[1]);
    const all = reduceChat(loaded, { type: 'chat/turnsLoaded', turns: page });
    expect(all).not.toHaveProperty('turnsNextCursor');
    expect(all.turns).toBe(loaded.turns);
    expect(reduceChat(all, { type: 'chat/turnsLoaded', turns: [] })).toBe(all);
  });
});
