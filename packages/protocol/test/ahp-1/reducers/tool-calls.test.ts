/** The chat reducer: the life of a tool call. */
import { describe, expect, it } from 'vitest';
import type {
  ChatAction,
  ChatState,
  ChatToolCallCompleteAction,
  ChatToolCallReadyAction,
  ToolCallContributor,
  ToolCallState,
} from '../../../src/ahp-1/index.js';
import { SessionStatus } from '../../../src/ahp-1/index.js';
import {
  AUTH,
  authRequired,
  CALL,
  callsOf,
  cancelled,
  chatState,
  completed,
  MCP,
  message,
  PARAMETERS,
  partsOf,
  pendingConfirmation,
  pendingResult,
  question,
  questionPart,
  reduceChat,
  running,
  STARTED_CALL,
  streaming,
  TURN,
  toolPart,
  withCalls,
  withTurn,
} from '../support/builders.js';

const { InProgress, InputNeeded } = SessionStatus;
const target = { turnId: TURN, toolCallId: CALL };
const ref = { uri: 'ahp-content:/input' };
const once = { id: 'once', label: 'Once', kind: 'approve' } as const;
const desk: ToolCallContributor = { kind: 'client', clientId: 'desk' };
const every = [
  streaming(),
  pendingConfirmation(),
  running(),
  authRequired(),
  pendingResult(),
  completed(),
  cancelled(),
  { ...STARTED_CALL, status: 'paused' } as unknown as ToolCallState,
];

const only = (state: ChatState) => callsOf(state)[0];
const after = (call: ToolCallState, action: ChatAction) => only(reduceChat(withCalls(call), action));

type ToolCallAction = Extract<ChatAction, { toolCallId: string }>;

/** That an action does nothing to calls of any other status, in another turn, under another id, or without a turn. */
function isOnlyFor(statuses: readonly string[], action: ToolCallAction): void {
  for (const call of every.filter(({ status }) => !statuses.includes(status))) {
    const state = withCalls(call);
    expect(reduceChat(state, action), call.status).toBe(state);
  }
  const fitting = every.filter(({ status }) => statuses.includes(status));
  const state = withCalls(...fitting);
  expect(reduceChat(state, { ...action, turnId: 'other' })).toBe(state);
  expect(reduceChat(state, { ...action, toolCallId: 'other' })).toBe(state);
  const idle = chatState({ status: SessionStatus.Error });
  expect(reduceChat(idle, action)).toBe(idle);
}

describe('a call begins', () => {
  const start: ChatAction = { type: 'chat/toolCallStart', ...target, toolName: 'search', displayName: 'Search' };

  it('[UP-118] at the end of the answer, without parameters', () => {
    const state = withCalls(completed({ toolCallId: 'earlier' }));
    const result = reduceChat(state, start);
    expect(partsOf(result)).toStrictEqual([...partsOf(state), toolPart(streaming())]);
    expect(result.status).toBe(InProgress);
    expect(reduceChat(state, { ...start, turnId: 'other' })).toBe(state);
  });

  it('[UP-118] with its intention, its contributor and its metadata', () => {
    const told = { intention: 'Find commas', contributor: MCP, _meta: { a: 1 } };
    expect(only(reduceChat(withTurn(), { ...start, ...told }))).toStrictEqual(streaming(told));
  });

  it('[UP-119] its parameters stream in', () => {
    const delta = { type: 'chat/toolCallDelta', ...target } as const;
    const first = reduceChat(withCalls(streaming()), { ...delta, content: '{"fi' });
    const second = reduceChat(first, { ...delta, content: 'nd', invocationMessage: 'Search' });
    expect(only(second)).toStrictEqual(streaming({ partialInput: '{"find', invocationMessage: 'Search' }));
    const said = reduceChat(second, { ...delta, invocationMessage: { markdown: '*Search*' } });
    expect(only(said)).toMatchObject({ partialInput: '{"find', invocationMessage: { markdown: '*Search*' } });
    expect(reduceChat(second, delta)).toBe(second);
    isOnlyFor(['streaming'], { ...delta, content: 'x' });
  });
});

describe('the parameters are complete', () => {
  const ready: ChatToolCallReadyAction = { type: 'chat/toolCallReady', ...target, invocationMessage: 'Find it' };
  const asked = {
    confirmationTitle: 'May I?',
    riskAssessment: { kind: 'judge', status: 'loading' },
    edits: { items: [] },
    editable: true,
    options: [once],
  } satisfies Partial<ChatToolCallReadyAction>;

  it.each([streaming(), running(), pendingConfirmation()])('[UP-120] and a call that is $status runs', (call) => {
    const toolInput = '{"find":";"}';
    expect(after(call, { ...ready, toolInput, confirmed: 'setting' })).toStrictEqual({
      status: 'running',
      ...STARTED_CALL,
      invocationMessage: 'Find it',
      toolInput,
      confirmed: 'setting',
    });
  });

  it.each([streaming(), running(), pendingConfirmation()])('[UP-120] and a call that is $status waits', (call) => {
    const state = reduceChat(withCalls(call), { ...ready, ...asked, toolInput: ref });
    expect(only(state)).toStrictEqual({
      status: 'pending-confirmation',
      ...STARTED_CALL,
      invocationMessage: 'Find it',
      toolInput: ref,
      ...asked,
    });
    expect(state.status).toBe(InputNeeded);
  });

  it('[UP-120] what the action leaves out stays of an earlier question', () => {
    const call = pendingConfirmation(asked);
    const judged = { kind: 'judge', status: 'complete', reason: 'Reads only', safety: 1 } as const;
    expect(after(call, { ...ready, riskAssessment: judged })).toStrictEqual({
      ...call,
      invocationMessage: 'Find it',
      riskAssessment: judged,
    });
    expect(
      after(call, { ...ready, editable: false, edits: { items: [{}] }, confirmationTitle: 'Now?', options: [] }),
    ).toMatchObject({
      editable: false,
      edits: { items: [{}] },
      confirmationTitle: 'Now?',
      options: [],
    });
  });

  it('[UP-120] of a run only the input stays, and an approval keeps the input that was asked about', () => {
    const call = running({ selectedOption: once, content: [{ type: 'text', text: 'So far' }] });
    expect(after(call, ready)).toStrictEqual(pendingConfirmation({ invocationMessage: 'Find it' }));
    expect(after(call, { ...ready, confirmed: 'setting' })).toStrictEqual(
      running({ invocationMessage: 'Find it', confirmed: 'setting' }),
    );
    expect(after(pendingConfirmation(), { ...ready, confirmed: 'setting' })).toHaveProperty(
      'toolInput',
      PARAMETERS.toolInput,
    );
    expect(after(streaming({ partialInput: '{"a":1}' }), ready)).not.toHaveProperty('toolInput');
  });

  it.each<[string, ToolCallContributor | undefined, ToolCallContributor | undefined, ToolCallContributor | undefined]>([
    ['stays when it is not told again', MCP, undefined, MCP],
    ['may be told late', undefined, MCP, MCP],
    ['may be corrected', MCP, { kind: 'mcp', customizationId: 'other' }, { kind: 'mcp', customizationId: 'other' }],
    ['does not become a client late', undefined, desk, undefined],
    ['does not change from a server to a client', MCP, desk, MCP],
    ['does not change from a client to a server', desk, MCP, desk],
    ['keeps its client', desk, { kind: 'client', clientId: 'phone' }, desk],
  ])('[UP-120] the contributor %s', (_what, known, told, expected) => {
    const call = after(streaming(known && { contributor: known }), { ...ready, ...(told && { contributor: told }) });
    expect(call?.contributor).toEqual(expected);
  });

  it('[UP-120] the intention may be told late, and stays', () => {
    const told = after(streaming(), { ...ready, intention: 'Find' });
    expect(told?.intention).toBe('Find');
    expect(after(streaming({ intention: 'Look' }), ready)?.intention).toBe('Look');
  });

  it('[UP-120] of no other call', () => isOnlyFor(['streaming', 'running', 'pending-confirmation'], ready));
});

describe('a person answers', () => {
  const yes = { type: 'chat/toolCallConfirmed', ...target, approved: true, confirmed: 'user-action' } as const;
  const no = { type: 'chat/toolCallConfirmed', ...target, approved: false, reason: 'denied' } as const;
  const call = pendingConfirmation({ options: [once], confirmationTitle: 'May I?', _meta: { a: 1 } });

  it('[UP-121] yes: the call runs', () => {
    const state = reduceChat(withCalls(call), yes);
    expect(only(state)).toStrictEqual(running({ _meta: { a: 1 } }));
    expect(state.status).toBe(InProgress);
  });

  it('[UP-121] [UP-076] yes, with an edited input, unless the input is a reference', () => {
    expect(after(call, { ...yes, editedToolInput: '' })).toHaveProperty('toolInput', '');
    expect(after({ ...call, toolInput: ref }, { ...yes, editedToolInput: '{}' })).toHaveProperty('toolInput', ref);
  });

  it('[UP-121] with one of the options', () => {
    expect(after(call, { ...yes, selectedOptionId: 'once' })).toHaveProperty('selectedOption', once);
    expect(after(call, { ...no, selectedOptionId: 'once' })).toHaveProperty('selectedOption', once);
    expect(after(call, { ...yes, selectedOptionId: 'gone' })).not.toHaveProperty('selectedOption');
    expect(after(pendingConfirmation(), { ...yes, selectedOptionId: 'once' })).not.toHaveProperty('selectedOption');
  });

  it('[UP-121] no: with a reason, words and advice', () => {
    const told = { reasonMessage: 'Not now', userSuggestion: message('Search less') };
    const state = reduceChat(withCalls(call), { ...no, ...told });
    expect(only(state)).toStrictEqual(cancelled({ ...told, _meta: { a: 1 } }));
    expect(state.status).toBe(InProgress);
    expect(after(call, { ...no, reason: 'skipped' })).toStrictEqual(cancelled({ reason: 'skipped', _meta: { a: 1 } }));
  });

  it('[UP-121] only where something was asked', () => {
    isOnlyFor(['pending-confirmation'], yes);
    isOnlyFor(['pending-confirmation'], no);
  });

  it('[UP-107] the status waits on as long as anything else does', () => {
    const state = withTurn([toolPart(call), questionPart(question('q'))], { status: InputNeeded });
    expect(reduceChat(state, yes).status).toBe(InputNeeded);
    const other = pendingConfirmation({ toolCallId: 'other' });
    expect(reduceChat(withCalls(call, other), yes).status).toBe(InputNeeded);
  });
});

describe('a tool returns', () => {
  const complete: ChatToolCallCompleteAction = {
    type: 'chat/toolCallComplete',
    ...target,
    result: { success: true, pastTenseMessage: 'Searched', content: [{ type: 'text', text: 'Two' }] },
  };
  const failure = { ...complete, result: { success: false, pastTenseMessage: 'Failed', error: { message: 'No' } } };

  it('[UP-122] and its result takes the place of partial output', () => {
    const call = running({ selectedOption: once, content: [{ type: 'text', text: 'One' }] });
    expect(after(call, complete)).toStrictEqual(completed({ selectedOption: once, ...complete.result }));
  });

  it('[UP-122] [UP-079] a failed tool is completed, too', () => {
    expect(after(running(), failure)).toStrictEqual(completed(failure.result));
  });

  it('[UP-122] although it was never confirmed', () => {
    const state = reduceChat(withCalls(pendingConfirmation({ options: [once] })), complete);
    expect(only(state)).toStrictEqual(completed({ confirmed: 'not-needed', ...complete.result }));
    expect(state.status).toBe(InProgress);
  });

  it('[UP-122] and a person must release the result', () => {
    const state = reduceChat(withCalls(running()), { ...complete, requiresResultConfirmation: true });
    expect(only(state)).toStrictEqual(pendingResult(complete.result));
    expect(state.status).toBe(InputNeeded);
  });

  it('[UP-122] without its token: a success is not believed, a failure needs no look and keeps the output', () => {
    const call = authRequired({ selectedOption: once, content: [{ type: 'text', text: 'One' }] });
    const waiting = withCalls(call);
    expect(reduceChat(waiting, complete)).toBe(waiting);
    const state = reduceChat(waiting, { ...failure, requiresResultConfirmation: true });
    expect(only(state)).toStrictEqual(
      completed({ contributor: MCP, selectedOption: once, content: call.content, ...failure.result }),
    );
    expect(state.status).toBe(InProgress);
    const own = { ...failure, result: { ...failure.result, content: [] } };
    expect(after(call, own)).toHaveProperty('content', []);
  });

  it('[UP-122] only from where a result can come', () => {
    isOnlyFor(['running', 'pending-confirmation', 'auth-required'], complete);
  });

  it('[UP-123] and a person releases the result, or denies it', () => {
    const call = pendingResult({ selectedOption: once, structuredContent: { a: 1 } });
    const decide = { type: 'chat/toolCallResultConfirmed', ...target } as const;
    const released = reduceChat(withCalls(call), { ...decide, approved: true });
    expect(only(released)).toStrictEqual(completed({ selectedOption: once, structuredContent: { a: 1 } }));
    expect(released.status).toBe(InProgress);
    const denied = reduceChat(withCalls(call), { ...decide, approved: false });
    expect(only(denied)).toStrictEqual(cancelled({ reason: 'result-denied', selectedOption: once }));
    expect(denied.status).toBe(InProgress);
    isOnlyFor(['pending-result-confirmation'], { ...decide, approved: true });
  });

  it('[UP-124] bit by bit: the latest output replaces what was there', () => {
    const content = [{ type: 'text' as const, text: 'So far' }];
    const change = { type: 'chat/toolCallContentChanged', ...target, content } as const;
    const state = reduceChat(withCalls(running({ content: [] })), change);
    expect(only(state)).toStrictEqual(running({ content }));
    expect(reduceChat(state, change)).toBe(state);
    isOnlyFor(['running'], change);
  });
});

describe('an MCP server asks for a token', () => {
  const ask = { type: 'chat/toolCallAuthRequired', ...target, auth: AUTH } as const;
  const resolve = { type: 'chat/toolCallAuthResolved', ...target } as const;
  const call = running({ contributor: MCP, content: [{ type: 'text', text: 'So far' }], selectedOption: once });

  it('[UP-125] and the running call waits for it', () => {
    const state = reduceChat(withCalls(call), ask);
    expect(only(state)).toStrictEqual({ ...call, status: 'auth-required', auth: AUTH });
    expect(state.status).toBe(InputNeeded);
  });

  it('[UP-125] not for a call of anything else', () => {
    for (const other of [running(), running({ contributor: desk })]) {
      const state = withCalls(other);
      expect(reduceChat(state, ask)).toBe(state);
    }
    isOnlyFor([], ask);
  });

  it('[UP-126] and the call goes on with everything that it had', () => {
    const state = reduceChat(withCalls(call), ask, resolve);
    expect(only(state)).toStrictEqual(call);
    expect(state.status).toBe(InProgress);
    isOnlyFor(['auth-required'], resolve);
  });
});

describe('the metadata of a call', () => {
  it('[UP-127] is replaced by that of every later action that fits, and kept by the others', () => {
    const actions: ChatAction[] = [
      { type: 'chat/toolCallDelta', ...target, content: '{}' },
      { type: 'chat/toolCallReady', ...target, invocationMessage: 'Find' },
      { type: 'chat/toolCallConfirmed', ...target, approved: true, confirmed: 'user-action' },
      { type: 'chat/toolCallContentChanged', ...target, content: [] },
      { type: 'chat/toolCallAuthRequired', ...target, auth: AUTH },
      { type: 'chat/toolCallAuthResolved', ...target },
      {
        type: 'chat/toolCallComplete',
        ...target,
        result: { success: true, pastTenseMessage: 'Found' },
        requiresResultConfirmation: true,
      },
      { type: 'chat/toolCallResultConfirmed', ...target, approved: true },
    ];
    let state = withCalls(streaming({ contributor: MCP, _meta: { step: -1 } }));
    for (const [step, action] of actions.entries()) {
      const kept = reduceChat(state, action);
      expect(only(kept)?._meta).toEqual({ step: step - 1 });
      state = reduceChat(state, { ...action, _meta: { step } } as ChatAction);
      expect(only(state)?._meta, action.type).toEqual({ step });
    }
    expect(only(state)?.status).toBe('completed');
    const late = { type: 'chat/toolCallDelta', ...target, content: 'x', _meta: { late: true } } as const;
    expect(reduceChat(state, late)).toBe(state);
  });

  it('[UP-109] every call of that id changes, and nothing beside them is copied', () => {
    const other = running({ toolCallId: 'other' });
    const state = withCalls(running(), other, running());
    const result = reduceChat(state, { type: 'chat/toolCallContentChanged', ...target, content: [] });
    expect(callsOf(result).map(({ status }) => status)).toEqual(['running', 'running', 'running']);
    expect(callsOf(result)[1]).toBe(other);
    expect(callsOf(result)[2]).toHaveProperty('content', []);
  });
});
