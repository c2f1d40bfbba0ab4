/**
 * Random but legal histories of a chat in the shapes of 1.0. Every move looks at the state and offers only actions that
 * a well-behaved host writes at that moment; the same seed gives the same history.
 */
import { chatReducer } from '../../../../src/ahp-1/chat/reducer.js';
import type {
  ChatAction,
  ChatState,
  InputRequestResponsePart,
  Message,
  ResponsePart,
  ToolCallContributor,
  ToolCallState,
  ToolInput,
  ToolResultContent,
  Turn,
} from '../../../../src/ahp-1/index.js';
import { type Random, seededRandom } from '../../../support/session-history.js';

export interface ChatStep {
  readonly action: ChatAction;
  readonly before: ChatState;
  readonly after: ChatState;
}

export const NEW_CHAT: ChatState = {
  resource: 'ahp-chat:/history',
  title: '',
  status: 1,
  modifiedAt: '2026-10-01T08:00:00.000Z',
  turns: [],
  workingDirectories: ['file:///a', 'file:///b'],
  origin: { kind: 'sideChat', chat: 'ahp-chat:/main', turnId: 't0', selection: { text: 'x' } },
};

interface Scene {
  readonly state: ChatState;
  readonly random: Random;
  fresh(kind: string): string;
}

type Move = (scene: Scene) => ChatAction | undefined;

export function chatHistory(seed: number, length: number): ChatStep[] {
  const random = seededRandom(seed);
  const steps: ChatStep[] = [];
  let names = 0;
  let state = NEW_CHAT;
  const fresh = (kind: string) => `${kind}-${++names}`;
  while (steps.length < length) {
    const action = random.pick(MOVES)?.({ state, random, fresh });
    if (!action) continue;
    const after = chatReducer(state, action);
    steps.push({ action, before: state, after });
    state = after;
  }
  return steps;
}

const time = ({ random }: Scene) => new Date(1.79e12 + random.below(1e6)).toISOString();

function message({ random }: Scene): Message {
  return {
    text: 'Port the parser',
    origin: { kind: random.of(['user', 'user', 'automation', 'systemNotification']) },
    ...(random.chance(0.3) && {
      attachments: [
        { type: 'chat', label: 'Side', resource: 'ahp-chat:/side', endTurn: 't1' },
        { type: 'resource', label: 'File', uri: 'file:///f', nonce: 'n1' },
      ],
    }),
    ...(random.chance(0.3) && { model: { id: 'm', config: { effort: 3 } } }),
  };
}

const text = (kind: 'markdown' | 'reasoning', id: string): ResponsePart => ({ kind, id, content: '' });

function part({ random, fresh }: Scene): ResponsePart {
  return random.of<ResponsePart>([
    text('markdown', fresh('part')),
    text('reasoning', fresh('part')),
    { kind: 'contentRef', uri: 'file:///big', nonce: 'n2' },
    { kind: 'systemNotification', content: 'Trusted', _meta: { a: 1 } },
    { kind: 'inputRequest', request: { id: fresh('asked') }, response: 'accept' },
    { kind: 'inputRequest', request: { id: fresh('open'), message: 'Which?' } },
    { kind: 'error', error: { errorType: 'x', message: 'is ignored' } },
  ]);
}

function output({ random }: Scene): ToolResultContent[] {
  return random.of<ToolResultContent[]>([
    [{ type: 'text', text: 'ok' }],
    [{ type: 'terminal', resource: 'ahp-terminal:/1', title: 'npm test', isPty: true }],
    [{ type: 'terminal', resource: 'ahp-terminal:/1', title: 'npm test', result: { exitCode: 1, preview: 'E' } }],
    [{ type: 'resource', uri: 'file:///out', nonce: 'n3' }],
    [{ type: 'fileEdit', after: { uri: 'file:///f', content: { uri: 'file:///f', nonce: 'n4' } } }],
  ]);
}

const parts = ({ state }: Scene) => state.activeTurn?.responseParts ?? [];
const calls = (scene: Scene) => parts(scene).flatMap((each) => (each.kind === 'toolCall' ? [each.toolCall] : []));
const questions = (scene: Scene) =>
  parts(scene).filter((each): each is InputRequestResponsePart => each.kind === 'inputRequest' && !each.response);

/** An action on one of the calls in some status. */
function onCall(
  statuses: readonly ToolCallState['status'][],
  make: (call: ToolCallState, scene: Scene, target: Target) => ChatAction | undefined,
): Move {
  return (scene) => {
    const call = scene.random.pick(calls(scene).filter(({ status }) => statuses.includes(status)));
    const turnId = scene.state.activeTurn?.id;
    return call && turnId ? make(call, scene, { turnId, toolCallId: call.toolCallId }) : undefined;
  };
}

interface Target {
  readonly turnId: string;
  readonly toolCallId: string;
}

/** A call has its input in place or by reference, the same way all its life. */
function input({ toolCallId }: ToolCallState): ToolInput {
  return Number(toolCallId.split('-')[1]) % 3 === 0 ? { uri: 'file:///input', nonce: 'n5' } : '{"a":1}';
}

const ofTurn = (make: (turnId: string, scene: Scene) => ChatAction): Move => {
  return (scene) => (scene.state.activeTurn ? make(scene.state.activeTurn.id, scene) : undefined);
};

const whenIdle = (move: Move): Move => {
  return (scene) => (scene.state.activeTurn ? undefined : move(scene));
};

function olderTurn({ fresh }: Scene): Turn {
  return {
    id: fresh('older'),
    startedAt: '2026-09-01T08:00:00.000Z',
    duration: 5,
    message: { text: 'Hi', origin: { kind: 'user' } },
    responseParts: [
      { kind: 'inputRequest', request: { id: 'old' } },
      { kind: 'error', error: { errorType: 'x', message: 'broke' } },
    ],
    state: 'error',
  };
}

const startsTurn: Move = whenIdle((scene) => ({
  type: 'chat/turnStarted',
  turnId: scene.fresh('turn'),
  startedAt: time(scene),
  message: message(scene),
  ...(scene.random.chance(0.3) && { queuedMessageId: scene.state.queuedMessages?.[0]?.id ?? 'none' }),
}));

const startsCall: Move = ofTurn((turnId, { random, fresh }) => ({
  type: 'chat/toolCallStart',
  turnId,
  toolCallId: fresh('call'),
  toolName: 'bash',
  displayName: 'Run',
  ...(random.chance(0.4) && { intention: 'to see' }),
  ...(random.chance(0.7) && { contributor: random.of<ToolCallContributor>([CLIENT, MCP, MCP]) }),
}));

const CLIENT = { kind: 'client' as const, clientId: 'c1' };
const OTHER_MCP = { kind: 'mcp' as const, customizationId: 's2' };
const MCP = { kind: 'mcp' as const, customizationId: 's1' };

/** Clients below 0.7 never learn of a server that is told late, so a host names it when the call starts. */
const makesReady: Move = onCall(['streaming', 'running'], (call, { random }, target) => ({
  type: 'chat/toolCallReady',
  ...target,
  invocationMessage: 'Runs it',
  ...(random.chance(0.8) && { toolInput: input(call) }),
  ...(random.chance(0.4) && { confirmed: 'not-needed' as const }),
  ...(random.chance(0.5) && { riskAssessment: { kind: 'judge' as const, status: 'loading' as const } }),
  ...(call.contributor?.kind === 'mcp' && random.chance(0.3) && { contributor: OTHER_MCP, intention: 'refined' }),
  ...(random.chance(0.3) && { options: [{ id: 'o', label: 'Yes', kind: 'approve' as const }], editable: true }),
  ...(random.chance(0.3) && {
    edits: { items: [{ after: { uri: 'file:///f', content: { uri: 'x:', nonce: 'n' } } }] },
  }),
}));

/** What the host says of a call that a person already sees: how risky it is, or that it may run after all. */
const readyAgain: Move = onCall(['pending-confirmation'], (call, { random }, target) => ({
  type: 'chat/toolCallReady',
  ...target,
  invocationMessage: call.invocationMessage ?? '',
  ...(random.chance(0.4)
    ? { confirmed: 'setting' as const, ...(random.chance(0.5) && { toolInput: input(call) }) }
    : { riskAssessment: { kind: 'judge' as const, status: 'complete' as const, reason: 'safe', safety: 1 } }),
}));

const confirms: Move = onCall(['pending-confirmation'], (call, scene, target) =>
  scene.random.chance(0.7)
    ? {
        type: 'chat/toolCallConfirmed',
        ...target,
        approved: true,
        confirmed: 'user-action',
        ...('toolInput' in call && scene.random.chance(0.4) && { editedToolInput: '{"edited":1}' }),
        ...(scene.random.chance(0.4) && { selectedOptionId: 'o' }),
      }
    : { type: 'chat/toolCallConfirmed', ...target, approved: false, reason: 'denied', userSuggestion: message(scene) },
);

const completes: Move = onCall(['running', 'pending-confirmation', 'auth-required'], (call, scene, target) => {
  const success = call.status !== 'auth-required' && scene.random.chance(0.7);
  const content = scene.random.chance(0.7) && { content: output(scene) };
  return {
    type: 'chat/toolCallComplete',
    ...target,
    result: { success, pastTenseMessage: 'Ran it', ...content },
    ...(scene.random.chance(0.3) && { requiresResultConfirmation: true }),
  };
});

const signsIn: Move = onCall(['running'], (call, _scene, target) =>
  call.contributor?.kind === 'mcp'
    ? { type: 'chat/toolCallAuthRequired', ...target, auth: { reason: 'required', resource: { resource: 'r:' } } }
    : undefined,
);

const asks: Move = ofTurn((_turnId, scene) => ({
  type: 'chat/inputRequested',
  request: {
    id: scene.random.pick(questions(scene))?.request.id ?? scene.fresh('asked'),
    message: 'Which?',
    ...(scene.random.chance(0.2) && { answers: { q: { state: 'skipped' } } }),
  },
}));

const answers: Move = (scene) => {
  const open = scene.random.pick(questions(scene))?.request.id;
  if (!open) return undefined;
  const answer = { state: 'draft' as const, value: { kind: 'text' as const, value: 'x' } };
  return scene.random.chance(0.5)
    ? { type: 'chat/inputAnswerChanged', requestId: open, questionId: 'q', ...(scene.random.chance(0.6) && { answer }) }
    : {
        type: 'chat/inputCompleted',
        requestId: open,
        response: 'accept',
        ...(scene.random.chance(0.5) && { answers: { q: answer } }),
      };
};

const ends: Move = ofTurn((turnId, { random }) => {
  const duration = random.below(9000);
  if (random.chance(0.5)) return { type: random.of(['chat/turnComplete', 'chat/turnCancelled']), turnId, duration };
  const error = { errorType: 'rate', message: 'Too fast' };
  return { type: 'chat/error', turnId, duration, part: { kind: 'error', error, resumable: random.chance(0.7) } };
});

const resumes: Move = whenIdle(({ state }) => {
  const last = state.turns.at(-1);
  return last && { type: 'chat/turnResume', turnId: last.id };
});

const truncates: Move = ({ state, random }) => {
  if (random.chance(0.7)) return undefined;
  const turnId = random.pick(state.turns)?.id;
  return { type: 'chat/truncated', ...(turnId !== undefined && { turnId }) };
};

const writes: Move = (scene) => {
  const queued = scene.random.pick(scene.state.queuedMessages ?? [])?.id ?? 'none';
  return scene.random.of<ChatAction>([
    { type: 'chat/pendingMessageSet', kind: 'queued', id: scene.fresh('queued'), message: message(scene) },
    { type: 'chat/pendingMessageSet', kind: 'steering', id: scene.fresh('steer'), message: message(scene) },
    { type: 'chat/pendingMessageRemoved', kind: 'queued', id: queued },
    { type: 'chat/queuedMessagesReordered', order: [queued] },
    { type: 'chat/draftChanged', draft: message(scene) },
    { type: 'chat/draftChanged' },
  ]);
};

const settles: Move = ({ random }) =>
  random.of<ChatAction>([
    { type: 'chat/activityChanged', activity: 'Reading' },
    { type: 'chat/isReadChanged', isRead: true },
    { type: 'chat/isArchivedChanged', isArchived: true },
    { type: 'chat/movableChanged', movable: true },
    { type: 'chat/changesetsChanged', changesets: [{ label: 'x', uriTemplate: 'x:', changeKind: 'turn' }] },
    { type: 'chat/canvasesChanged', canvases: [{ resource: 'ahp-canvas:/1' }] },
    {
      type: 'chat/backgroundWorkSet',
      work: { kind: 'shell', id: 'w', label: 'x', startedAt: '2026-10-01T08:00:00.000Z', command: 'sleep' },
    },
    { type: 'chat/backgroundWorkRemoved', id: 'w' },
    { type: 'chat/workingDirectorySet', directory: random.of(['file:///a', 'file:///b', 'file:///c']) },
    { type: 'chat/workingDirectoryRemoved', directory: random.of(['file:///a', 'file:///b', 'file:///c']) },
  ]);

const MOVES: readonly Move[] = [
  startsTurn,
  startsTurn,
  startsCall,
  startsCall,
  makesReady,
  makesReady,
  readyAgain,
  confirms,
  completes,
  signsIn,
  onCall(['auth-required'], (_call, _scene, target) => ({ type: 'chat/toolCallAuthResolved', ...target })),
  onCall(['running'], (_call, scene, target) => ({
    type: 'chat/toolCallContentChanged',
    ...target,
    content: output(scene),
  })),
  onCall(['pending-result-confirmation'], (_call, { random }, target) => ({
    type: 'chat/toolCallResultConfirmed',
    ...target,
    approved: random.chance(0.5),
  })),
  onCall(['streaming'], (_call, { random }, target) => ({
    type: 'chat/toolCallDelta',
    ...target,
    ...(random.chance(0.6) ? { content: '{"a"' } : { invocationMessage: 'Writes' }),
  })),
  ofTurn((turnId, scene) => ({ type: 'chat/responsePart', turnId, part: part(scene) })),
  (scene) => {
    const grown = scene.random.pick(parts(scene).filter((each) => each.kind === 'markdown'));
    const turnId = scene.state.activeTurn?.id ?? '';
    return grown && { type: 'chat/delta', turnId, partId: grown.id, content: 'more' };
  },
  ofTurn((turnId) => ({ type: 'chat/usage', turnId, usage: { inputTokens: 1 } })),
  asks,
  answers,
  answers,
  ends,
  resumes,
  truncates,
  writes,
  settles,
  (scene) =>
    scene.random.chance(0.2)
      ? { type: 'chat/turnsLoaded', turns: [olderTurn(scene)], turnsNextCursor: scene.fresh('cursor') }
      : undefined,
];
