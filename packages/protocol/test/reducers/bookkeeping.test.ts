/** For each session action: does it move the time on, work out the activity anew, clear a flag? */
import { expect, it } from 'vitest';
import type { SessionAction, SessionActionType } from '../../src/session/actions.js';
import type { SessionState } from '../../src/session/state.js';
import { SessionStatus } from '../../src/session/status.js';
import {
  BEFORE,
  finishedTurn,
  inputRequest,
  markdown,
  message,
  NOW,
  pending,
  pendingConfirmation,
  pendingResult,
  plugin,
  reasoning,
  reduceSession,
  running,
  sessionState,
  sessionSummary,
  streaming,
  TURN,
  toolPart,
} from '../support/builders.js';

const { Idle, Error: Failed, InputNeeded, IsRead, IsArchived } = SessionStatus;
const FLAGS = IsRead | IsArchived | 128;

/** Something for every action to change, and an activity that is not true: two calls wait, but it says `Error`. */
function busy(): SessionState {
  return sessionState({
    summary: sessionSummary({ status: Failed | FLAGS }),
    lifecycle: 'creating',
    turns: [finishedTurn('turn-before')],
    activeTurn: {
      id: TURN,
      userMessage: message('Port the parser'),
      responseParts: [
        markdown('m', 'Text'),
        reasoning('r', 'Thought'),
        toolPart(streaming({ toolCallId: 'streaming' })),
        toolPart(pendingConfirmation({ toolCallId: 'asking' })),
        toolPart(running({ toolCallId: 'running' })),
        toolPart(pendingResult({ toolCallId: 'returned' })),
      ],
    },
    inputRequests: [inputRequest('q')],
    queuedMessages: [pending('a'), pending('b')],
    config: { schema: { type: 'object', properties: {} }, values: {} },
    activeClient: { clientId: 'desk', tools: [] },
    customizations: [plugin('p')],
  });
}

interface Row {
  /** The id of the rule in the catalogue of actions. */
  readonly id: string;
  /** The action without its type. */
  readonly payload: object;
  readonly modified?: true;
  /** The activity that comes out; without one it stays, true or not. */
  readonly activity?: number;
  /** The flag that goes. */
  readonly cleared?: number;
}

const turn = { turnId: TURN };
const call = (toolCallId: string, payload: object = {}) => ({ ...turn, toolCallId, ...payload });
const userMessage = message('Next');
const error = { errorType: 'crash', message: 'The agent stopped' };
const result = { success: true, pastTenseMessage: 'Done' };

const rows: Record<SessionActionType, Row> = {
  'session/ready': { id: '[ACT-005]', payload: {} },
  'session/creationFailed': { id: '[ACT-006]', payload: { error } },
  'session/turnStarted': {
    id: '[ACT-007]',
    payload: { turnId: 'turn-next', userMessage },
    modified: true,
    activity: InputNeeded,
    cleared: IsRead,
  },
  'session/delta': { id: '[ACT-008]', payload: { ...turn, partId: 'm', content: '.' } },
  'session/responsePart': { id: '[ACT-009]', payload: { ...turn, part: markdown('n', '') } },
  'session/toolCallStart': { id: '[ACT-010]', payload: call('new', { toolName: 't', displayName: 'T' }) },
  'session/toolCallDelta': { id: '[ACT-011]', payload: call('streaming', { content: '{' }) },
  'session/toolCallReady': {
    id: '[ACT-012]',
    payload: call('streaming', { invocationMessage: 'T' }),
    activity: InputNeeded,
  },
  'session/toolCallConfirmed': {
    id: '[ACT-013]',
    payload: call('asking', { approved: true, confirmed: 'user-action' }),
    activity: InputNeeded,
  },
  'session/toolCallComplete': { id: '[ACT-014]', payload: call('running', { result }), activity: InputNeeded },
  'session/toolCallResultConfirmed': {
    id: '[ACT-015]',
    payload: call('returned', { approved: true }),
    activity: InputNeeded,
  },
  'session/toolCallContentChanged': { id: '[ACT-016]', payload: call('running', { content: [] }) },
  'session/turnComplete': { id: '[ACT-017]', payload: turn, modified: true, activity: Idle },
  'session/turnCancelled': { id: '[ACT-018]', payload: turn, modified: true, activity: Idle },
  'session/error': { id: '[ACT-019]', payload: { ...turn, error }, modified: true, activity: Failed },
  'session/titleChanged': { id: '[ACT-020]', payload: { title: 'Port the lexer' }, modified: true },
  'session/usage': { id: '[ACT-021]', payload: { ...turn, usage: { inputTokens: 1 } } },
  'session/reasoning': { id: '[ACT-022]', payload: { ...turn, partId: 'r', content: '.' } },
  'session/modelChanged': { id: '[ACT-023]', payload: { model: { id: 'large' } }, modified: true },
  'session/agentChanged': { id: '[ACT-024]', payload: { agent: { uri: 'file:///agent' } }, modified: true },
  'session/serverToolsChanged': { id: '[ACT-025]', payload: { tools: [] } },
  'session/activeClientChanged': { id: '[ACT-026]', payload: { activeClient: null } },
  'session/activeClientToolsChanged': { id: '[ACT-027]', payload: { tools: [{ name: 'search' }] } },
  'session/pendingMessageSet': { id: '[ACT-028]', payload: { kind: 'queued', id: 'c', userMessage } },
  'session/pendingMessageRemoved': { id: '[ACT-029]', payload: { kind: 'queued', id: 'a' } },
  'session/queuedMessagesReordered': { id: '[ACT-030]', payload: { order: ['b'] } },
  'session/inputRequested': {
    id: '[ACT-031]',
    payload: { request: inputRequest('p') },
    modified: true,
    activity: InputNeeded,
    cleared: IsRead,
  },
  'session/inputAnswerChanged': {
    id: '[ACT-032]',
    payload: { requestId: 'q', questionId: 'a', answer: { state: 'skipped' } },
    modified: true,
  },
  'session/inputCompleted': {
    id: '[ACT-033]',
    payload: { requestId: 'q', response: 'cancel' },
    modified: true,
    activity: InputNeeded,
  },
  'session/customizationsChanged': { id: '[ACT-034]', payload: { customizations: [] } },
  'session/customizationToggled': { id: '[ACT-035]', payload: { id: 'p', enabled: false } },
  'session/customizationUpdated': { id: '[ACT-036]', payload: { customization: plugin('p2') } },
  'session/customizationRemoved': { id: '[ACT-037]', payload: { id: 'p' } },
  'session/truncated': { id: '[ACT-038]', payload: {}, modified: true, activity: Idle },
  'session/isReadChanged': { id: '[ACT-039]', payload: { isRead: false }, cleared: IsRead },
  'session/isArchivedChanged': { id: '[ACT-040]', payload: { isArchived: false }, cleared: IsArchived },
  'session/activityChanged': { id: '[ACT-041]', payload: { activity: 'Reading' } },
  'session/changesetsChanged': { id: '[ACT-042]', payload: { changesets: [] } },
  'session/configChanged': { id: '[ACT-043]', payload: { config: { mode: 'plan' } }, modified: true },
  'session/metaChanged': { id: '[ACT-044]', payload: { _meta: {} } },
};

it.each(Object.entries(rows).map(([type, row]) => ({ type, ...row })))(
  '$id $type keeps the books',
  ({ type, payload, modified, activity = Failed, cleared = 0 }) => {
    const state = busy();
    const next = reduceSession(state, { type, ...payload } as SessionAction);
    expect(next.summary.modifiedAt).toBe(modified ? NOW : BEFORE);
    expect(next.summary.status).toBe(activity | (FLAGS & ~cleared));
    expect(next).not.toBe(state);
  },
);
