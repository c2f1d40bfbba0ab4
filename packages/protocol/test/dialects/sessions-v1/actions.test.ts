import { describe, expect, it } from 'vitest';
import { type StateAction, stateActions } from '../../../src/actions.js';
import { ahp02 } from '../../../src/dialects/ahp-0.2/codec.js';
import { ahp03 } from '../../../src/dialects/ahp-0.3/codec.js';
import { NO_MEMORY } from '../../../src/dialects/index.js';
import { translateSteps } from '../../../src/dialects/sessions-v1/actions.js';
import { sessionsV1 } from '../../../src/dialects/sessions-v1/codec.js';
import { sessionStateToWire } from '../../../src/dialects/sessions-v1/state.js';
import { memoryWith } from '../../../src/dialects/sessions-v1/tool-calls.js';
import type { SessionAction } from '../../../src/session/actions.js';
import {
  completed,
  finishedTurn,
  markdown,
  message,
  pendingConfirmation,
  reasoning,
  running,
  sessionState,
  streaming,
  TURN,
  toolPart,
  withCalls,
  withTurn,
} from '../../support/builders.js';
import { onTheWire, sent, stepsFrom, typesSent, WIRE_SESSION } from './scenes.js';

const session = WIRE_SESSION;
const turnId = TURN;

describe('sessions-v1 actions', () => {
  it('[V1-018] [V1-044] come in an envelope, with their session inside', () => {
    const { frames } = sessionsV1.encodeSteps(NO_MEMORY, stepsFrom(sessionState(), [{ type: 'session/ready' }]));
    expect(onTheWire(frames.map(({ method, params }) => ({ method, params })))).toEqual([
      { method: 'action', params: { envelope: { action: { type: 'session/ready', session }, serverSeq: 1 } } },
    ]);
  });

  it('[V1-045] tell of agents, without a session', () => {
    const agents = [{ provider: 'p', displayName: 'P', description: '', models: [], customizations: [] }];
    const action = { type: 'root/agentsChanged' as const, agents };
    const step = { envelope: { channel: 'ahp-root://', action, serverSeq: 3 }, before: undefined, after: undefined };
    const [frame] = translateSteps(NO_MEMORY, [step]).frames;
    expect(frame).toEqual({
      action: {
        type: 'root/agentsChanged',
        agents: [{ provider: 'p', displayName: 'P', description: '', models: [] }],
      },
      serverSeq: 3,
    });
  });

  it('[V1-046] tell how a creation went', () => {
    const error = { errorType: 'start', message: 'No backend' };
    expect(sent(sessionState(), { type: 'session/ready' })).toEqual([{ type: 'session/ready', session }]);
    expect(sent(sessionState(), { type: 'session/creationFailed', error })).toEqual([
      { type: 'session/creationFailed', session, error },
    ]);
  });

  it('[V1-047] start a turn, whether it was queued or not', () => {
    const action = {
      type: 'session/turnStarted' as const,
      turnId: 't',
      userMessage: message('Go'),
      queuedMessageId: 'q',
    };
    expect(sent(sessionState(), action)).toEqual([
      { type: 'session/turnStarted', session, turnId: 't', userMessage: { text: 'Go' } },
    ]);
  });

  it('[V1-048] append text without naming a part', () => {
    const state = withTurn([markdown('p', 'a')]);
    expect(sent(state, { type: 'session/delta', turnId, partId: 'p', content: 'b' })).toEqual([
      { type: 'session/delta', session, turnId, content: 'b' },
    ]);
  });

  it('[V1-048] append the first text of a new part, if there is any', () => {
    expect(sent(withTurn(), { type: 'session/responsePart', turnId, part: markdown('p', 'a') })).toEqual([
      { type: 'session/delta', session, turnId, content: 'a' },
    ]);
    expect(sent(withTurn(), { type: 'session/responsePart', turnId, part: markdown('p', '') })).toEqual([]);
  });

  it.each([
    ['an unknown part', { turnId, partId: 'x' }],
    ['a part of another kind', { turnId, partId: 'r' }],
    ['a call', { turnId, partId: 'call-1' }],
    ['another turn', { turnId: 'turn-before', partId: 'p' }],
  ])('[V1-048] do not append what went to %s', (_name, place) => {
    const state = withTurn([toolPart(running()), reasoning('r', ''), markdown('p', ''), markdown('r', '')]);
    expect(sent(state, { type: 'session/delta', ...place, content: 'b' })).toEqual([]);
  });

  it('[V1-049] append reasoning the same way', () => {
    const part = reasoning('r', 'hm');
    const actions = [
      { type: 'session/responsePart' as const, turnId, part },
      { type: 'session/reasoning' as const, turnId, partId: 'r', content: ' yes' },
    ];
    expect(sent(withTurn(), ...actions)).toEqual([
      { type: 'session/reasoning', session, turnId, content: 'hm' },
      { type: 'session/reasoning', session, turnId, content: ' yes' },
    ]);
    expect(sent(withTurn(), { type: 'session/responsePart', turnId, part: reasoning('r', '') })).toEqual([]);
  });

  it('[V1-050] [V1-041] add content by reference', () => {
    const part = { kind: 'contentRef' as const, uri: 'x://s/c', contentType: 'image/png' };
    expect(sent(withTurn(), { type: 'session/responsePart', turnId, part })).toMatchObject([
      { type: 'session/responsePart', part: { kind: 'contentRef', uri: 'x://s/c', mimeType: 'image/png' } },
    ]);
  });

  it('[V1-050] [UNI-078] add notes of the host as text', () => {
    const part = { kind: 'systemNotification' as const, content: { markdown: '*Tab closed*' } };
    expect(sent(withTurn(), { type: 'session/responsePart', turnId, part })).toMatchObject([
      { type: 'session/responsePart', part: { kind: 'markdown', content: '*Tab closed*' } },
    ]);
  });

  it('[V1-050] show a call that comes as a part, as far as it is', () => {
    const shown = (call: Parameters<typeof toolPart>[0]) =>
      typesSent(withTurn(), { type: 'session/responsePart', turnId, part: toolPart(call) });
    expect(shown(streaming())).toEqual([]);
    expect(shown(completed())).toEqual(['session/toolStart']);
    expect(shown(pendingConfirmation())).toEqual(['session/toolStart', 'session/permissionRequest']);
  });

  it('[V1-050] do not add parts to another turn', () => {
    expect(sent(withTurn(), { type: 'session/responsePart', turnId: 'x', part: markdown('p', 'a') })).toEqual([]);
  });

  it('[V1-055] [V1-056] end a turn', () => {
    const error = { errorType: 'model', message: 'Overloaded' };
    expect(sent(withTurn(), { type: 'session/turnComplete', turnId })).toEqual([
      { type: 'session/turnComplete', session, turnId },
    ]);
    expect(sent(withTurn(), { type: 'session/turnCancelled', turnId })).toEqual([
      { type: 'session/turnCancelled', session, turnId },
    ]);
    expect(sent(withTurn(), { type: 'session/error', turnId, error })).toEqual([
      { type: 'session/error', session, turnId, error },
    ]);
  });

  it('[V1-055] leave unfinished calls to the client', () => {
    const state = withCalls(streaming({ toolCallId: 'a' }), running({ toolCallId: 'b' }), pendingConfirmation());
    expect(typesSent(state, { type: 'session/turnCancelled', turnId })).toEqual(['session/turnCancelled']);
  });

  it('[V1-055] do not end a turn that does not run', () => {
    expect(sent(withTurn(), { type: 'session/turnComplete', turnId: 'x' })).toEqual([]);
    expect(sent(sessionState(), { type: 'session/usage', turnId, usage: {} })).toEqual([]);
  });

  it('[V1-057] [V1-058] [V1-059] report title, usage and model', () => {
    const usage = { inputTokens: 1, _meta: { price: 2 } };
    const model = { id: 'large', config: { effort: 'low' } };
    expect(sent(withTurn(), { type: 'session/titleChanged', title: 'New' })).toEqual([
      { type: 'session/titleChanged', session, title: 'New' },
    ]);
    expect(sent(withTurn(), { type: 'session/usage', turnId, usage })).toEqual([
      { type: 'session/usage', session, turnId, usage: { inputTokens: 1 } },
    ]);
    expect(sent(withTurn(), { type: 'session/modelChanged', model })).toEqual([
      { type: 'session/modelChanged', session, model: 'large' },
    ]);
  });
});

describe('actions that sessions-v1 does not have', () => {
  const SPOKEN = [
    'root/agentsChanged',
    'session/ready',
    'session/creationFailed',
    'session/turnStarted',
    'session/delta',
    'session/responsePart',
    'session/toolCallReady',
    'session/toolCallConfirmed',
    'session/toolCallComplete',
    'session/toolCallResultConfirmed',
    'session/turnComplete',
    'session/turnCancelled',
    'session/error',
    'session/titleChanged',
    'session/usage',
    'session/reasoning',
    'session/modelChanged',
  ];
  const silent = [
    ...Object.keys(stateActions).filter((type) => !SPOKEN.includes(type)),
    'future/unheardOf',
    'toString',
  ];

  it.each(silent)('[V1-060] [V1-069] [UNI-085] %s is just a gap', (type) => {
    const state = withTurn();
    const action = { type, turnId, toolCallId: 'c', content: 'x' } as unknown as StateAction;
    const envelope = { channel: 'ahp-session:/one', action, serverSeq: 1 };
    expect(translateSteps(NO_MEMORY, [{ envelope, before: state, after: state }]).frames).toEqual([]);
  });

  it('[UNI-081] [UNI-082] providers, their tools and MCP servers among them', () => {
    const server = { type: 'mcpServer', id: 's', uri: 'mcp:s', name: 'files', enabled: true } as const;
    const container = { type: 'plugin', id: 'p', uri: 'p:/', name: 'P', enabled: true, children: [server] } as const;
    const state = withTurn();
    const actions = [
      { type: 'session/customizationsChanged', customizations: [container] },
      { type: 'session/customizationUpdated', customization: { ...container, load: { kind: 'loaded' } } },
      { type: 'session/customizationToggled', id: 's', enabled: false },
      { type: 'session/serverToolsChanged', tools: [{ name: 'find' }] },
    ] as unknown as SessionAction[];
    const steps = stepsFrom(state, actions);
    expect(translateSteps(NO_MEMORY, steps).frames).toEqual([]);
    expect(sessionStateToWire(steps.at(-1)?.after ?? state)).toEqual(sessionStateToWire(state));
    // Everybody else gets them as they are.
    for (const dialect of [ahp02, ahp03])
      expect(dialect.encodeSteps(NO_MEMORY, steps).frames.map(({ params }) => params)).toEqual(
        steps.map(({ envelope }) => envelope),
      );
  });

  it('[V1-051] [UNI-077] parameters and progress of a call among them', () => {
    const target = { turnId, toolCallId: 'c' };
    expect(
      typesSent(
        withCalls(running()),
        { type: 'session/toolCallStart', ...target, toolName: 't', displayName: 'T' },
        { type: 'session/toolCallDelta', ...target, content: '{' },
        { type: 'session/toolCallContentChanged', turnId, toolCallId: 'call-1', content: [] },
      ),
    ).toEqual([]);
  });
});

describe('a cut of the history', () => {
  const cut = { type: 'session/truncated' as const, turnId: 't1' };
  const title = (text: string) => ({ type: 'session/titleChanged' as const, title: text });

  it('[V1-061] closes the connection: it cannot be said', () => {
    const state = withTurn([], { turns: [finishedTurn('t1'), finishedTurn('t2')] });
    const { close, frames } = translateSteps(NO_MEMORY, stepsFrom(state, [title('a'), cut, title('b')]));
    expect(close).toMatch(/reconnect/);
    expect(frames.map(({ serverSeq }) => serverSeq)).toEqual([1]);
  });

  it('[V1-061] that changes nothing does not', () => {
    expect(translateSteps(NO_MEMORY, stepsFrom(sessionState(), [cut]))).toEqual({ memory: NO_MEMORY, frames: [] });
  });

  it('[V1-061] leaves the memory in step for those who come back', () => {
    const ask = { type: 'session/toolCallReady' as const, turnId: 't3', toolCallId: 'c', invocationMessage: 'm' };
    const steps = stepsFrom(withCalls(pendingConfirmation()), [
      { type: 'session/truncated' },
      { type: 'session/turnStarted', turnId: 't3', userMessage: message('Go') },
      { type: 'session/toolCallStart', turnId: 't3', toolCallId: 'c', toolName: 't', displayName: 'T' },
      ask,
    ]);
    expect(sessionsV1.encodeSteps(NO_MEMORY, steps).memory).toEqual(
      memoryWith({ turnId: 't3', counts: new Map([['c', 1]]) }),
    );
  });
});
