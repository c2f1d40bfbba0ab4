import { describe, expect, it } from 'vitest';
import { rootToWire, sessionStateToWire, summaryToWire } from '../../../src/dialects/sessions-v1/state.js';
import type { AgentInfo } from '../../../src/root/state.js';
import type { ResponsePart } from '../../../src/session/turns.js';
import {
  completed,
  finishedTurn,
  inputRequest,
  markdown,
  pending,
  plugin,
  reasoning,
  sessionState,
  sessionSummary,
  streaming,
  toolPart,
  withTurn,
} from '../../support/builders.js';

const agent: AgentInfo = {
  provider: 'echo',
  displayName: 'Echo',
  description: 'Says it again',
  models: [
    {
      id: 'large',
      provider: 'echo',
      name: 'Large',
      maxContextWindow: 9,
      supportsVision: true,
      policyState: 'enabled',
      configSchema: { type: 'object', properties: {} },
      _meta: { pricing: 1 },
    },
  ],
  protectedResources: [{ resource: 'https://api.example' }],
  customizations: [plugin('p')],
  systemMessageSections: [{ id: 'tone', label: 'Tone' }],
};

const parts: ResponsePart[] = [
  markdown('a', 'One '),
  reasoning('b', 'hm '),
  { kind: 'contentRef', uri: 'content://s/1', sizeHint: 4, contentType: 'image/png' },
  { kind: 'systemNotification', content: { markdown: '*note*' } },
  toolPart(completed()),
  markdown('c', 'two'),
  reasoning('d', 'yes'),
];
const image = { kind: 'contentRef', uri: 'content://s/1', sizeHint: 4, mimeType: 'image/png' };
const note = { kind: 'markdown', content: '*note*' };

describe('sessions-v1 root state', () => {
  const terminals = [{ resource: 'ahp-terminal:/1', title: 't', claim: { kind: 'client' as const, clientId: 'c' } }];

  it('[V1-023] has agents and nothing else', () => {
    expect(rootToWire({ agents: [], activeSessions: 3, terminals })).toEqual({ agents: [] });
  });

  it('[V1-024] [V1-025] has agents and models without their newer members', () => {
    const model = { id: 'large', provider: 'echo', name: 'Large', maxContextWindow: 9, supportsVision: true };
    expect(rootToWire({ agents: [agent] }).agents).toEqual([
      {
        provider: 'echo',
        displayName: 'Echo',
        description: 'Says it again',
        models: [{ ...model, policyState: 'enabled' }],
      },
    ]);
  });
});

describe('sessions-v1 session state', () => {
  it('[V1-026] [V1-042] has five members, the active turn only while there is one', () => {
    const state = sessionState({
      steeringMessage: pending('m'),
      queuedMessages: [pending('n')],
      inputRequests: [inputRequest('i')],
      customizations: [plugin('p')],
      activeClient: { clientId: 'c', tools: [] },
      serverTools: [{ name: 'find' }],
      config: { schema: { type: 'object', properties: {} }, values: {} },
      _meta: { git: 1 },
      activeTurn: undefined,
    });
    expect(Object.keys(sessionStateToWire(state))).toEqual(['summary', 'lifecycle', 'turns']);
    expect(sessionStateToWire(withTurn())).toHaveProperty('activeTurn');
  });

  it('[V1-026] says why a session could not be created', () => {
    const creationError = { errorType: 'start', message: 'No backend' };
    const state = sessionStateToWire(sessionState({ lifecycle: 'creationFailed', creationError }));
    expect(state).toMatchObject({ lifecycle: 'creationFailed', creationError });
  });

  it('[V1-027] [V1-042] has a summary with a mapped URI and the id of the model', () => {
    const summary = sessionSummary({
      model: { id: 'large', config: { effort: 'low' } },
      activity: 'thinking',
      workingDirectory: 'file:///srv',
      agent: { uri: 'file:///a.md' },
      changesets: [],
      project: { uri: 'file:///srv', displayName: 'srv' },
    });
    expect(summaryToWire(summary)).toEqual({
      resource: 'echo:/one',
      provider: 'echo',
      title: 'Port the parser',
      status: 'idle',
      createdAt: 1_000,
      modifiedAt: 1_000,
      model: 'large',
    });
  });

  it.each([
    [1, 'idle'],
    [97, 'idle'],
    [2, 'error'],
    [34, 'error'],
    [8, 'in-progress'],
    [24, 'in-progress'],
    [72, 'in-progress'],
  ])('[V1-027] [V1-042] calls status %s %s', (status, expected) => {
    expect(summaryToWire(sessionSummary({ status })).status).toBe(expected);
  });
});

describe('sessions-v1 turns', () => {
  it('[V1-028] [V1-032] list text, content and notes when finished, and the text again in one piece', () => {
    const turn = finishedTurn('t1', { responseParts: parts, usage: { inputTokens: 1, _meta: { price: 2 } } });
    expect(sessionStateToWire(sessionState({ turns: [turn] })).turns).toEqual([
      {
        id: 't1',
        userMessage: { text: 'Text of t1' },
        responseParts: [{ kind: 'markdown', content: 'One ' }, image, note, { kind: 'markdown', content: 'two' }],
        responseText: 'One two',
        toolCalls: [expect.objectContaining({ toolCallId: 'call-1', success: true })],
        usage: { inputTokens: 1 },
        state: 'complete',
      },
    ]);
  });

  it('[V1-028] keep the error they ended with', () => {
    const error = { errorType: 'model', message: 'Overloaded' };
    const [turn] = sessionStateToWire(sessionState({ turns: [finishedTurn('t', { state: 'error', error })] })).turns;
    expect(turn).toMatchObject({ state: 'error', error });
  });

  it('[V1-029] [V1-030] [V1-031] [V1-032] stream text and reasoning apart from the parts while they run', () => {
    const { activeTurn } = sessionStateToWire(withTurn([...parts, toolPart(streaming({ toolCallId: 'new' }))]));
    expect(activeTurn).toEqual({
      id: 'turn-now',
      userMessage: { text: 'Port the parser' },
      streamingText: 'One two',
      reasoning: 'hm yes',
      responseParts: [image, note],
      toolCalls: { 'call-1': expect.objectContaining({ toolCallId: 'call-1' }) },
      pendingPermissions: {},
    });
  });

  it('[V1-040] have usage without metadata', () => {
    const state = withTurn();
    const usage = { inputTokens: 1, outputTokens: 2, cacheReadTokens: 3, model: 'large', _meta: { price: 2 } };
    const activeTurn = state.activeTurn && { ...state.activeTurn, usage };
    const { _meta, ...shown } = usage;
    expect(sessionStateToWire({ ...state, activeTurn }).activeTurn?.usage).toEqual(shown);
  });

  it('[V1-032] leave out parts of kinds that nobody knows', () => {
    const unknown = { kind: 'hologram', id: 'h' } as unknown as ResponsePart;
    expect(sessionStateToWire(withTurn([unknown])).activeTurn?.responseParts).toEqual([]);
    expect(
      sessionStateToWire(sessionState({ turns: [finishedTurn('t', { responseParts: [unknown] })] })).turns,
    ).toMatchObject([{ responseParts: [], toolCalls: [] }]);
  });
});
