/** Things that people do, sensible and not: chosen at random from what a client sees. */
import type { SessionState, StateAction, ToolCallState } from '@atrium/protocol';
import type { SessionsV1SessionState } from '@atrium/protocol/dialects';
import type { Random } from './fuzz-random.js';
import { CLIENT_TOOL, FUZZ_PROMPTS } from './fuzz-script.js';
import type { SessionsV1Request } from './fuzz-sessions-v1-client.js';

interface Situation {
  readonly state: SessionState;
  readonly clientId: string;
  readonly random: Random;
  /** Unique: ids and texts are made of it. */
  readonly name: string;
}

type Idea = (situation: Situation) => StateAction | undefined;

/** Each as often as it stands here. */
const IDEAS: readonly [Idea, ...Idea[]] = [
  start,
  start,
  start,
  start,
  answer,
  answer,
  answer,
  enqueue,
  enqueue,
  cancel,
  title,
  title,
  model,
  truncate,
  unqueue,
  reorder,
  steer,
  claim,
  configure,
  flag,
  nonsense,
];

export function randomAction(situation: Situation): StateAction | undefined {
  return situation.random.pick(IDEAS)(situation);
}

function start({ random, name }: Situation): StateAction {
  return { type: 'session/turnStarted', turnId: `turn-${name}`, userMessage: { text: random.pick(FUZZ_PROMPTS) } };
}

/** Whatever waits for somebody: a question, a permission, a tool of a client. */
export function answer({ state, random }: Situation): StateAction | undefined {
  const [question] = state.inputRequests ?? [];
  if (question) {
    const answers = { why: { state: 'submitted', value: { kind: 'text', value: 'Because.' } } } as const;
    const response = random.pick(['accept', 'decline', 'cancel'] as const);
    return { type: 'session/inputCompleted', requestId: question.id, response, ...(random.chance(0.8) && { answers }) };
  }
  const call = random.pick(
    callsOf(state).filter(({ status }) => status === 'pending-confirmation' || status === 'running'),
  );
  const turnId = state.activeTurn?.id;
  if (!call || turnId === undefined) return undefined;
  const target = { turnId, toolCallId: call.toolCallId };
  if (call.status === 'running') {
    return { type: 'session/toolCallComplete', ...target, result: { success: true, pastTenseMessage: 'Looked it up' } };
  }
  return random.chance(0.6)
    ? { type: 'session/toolCallConfirmed', ...target, approved: true, confirmed: 'user-action' }
    : { type: 'session/toolCallConfirmed', ...target, approved: false, reason: 'denied' };
}

function callsOf({ activeTurn }: SessionState): ToolCallState[] {
  return (activeTurn?.responseParts ?? []).flatMap((part) => (part.kind === 'toolCall' ? [part.toolCall] : []));
}

function enqueue({ state, random, name }: Situation): StateAction {
  const known = random.pick(state.queuedMessages ?? []);
  const id = known && random.chance(0.2) ? known.id : `queued-${name}`;
  return { type: 'session/pendingMessageSet', kind: 'queued', id, userMessage: { text: `message ${name}` } };
}

function unqueue({ state, random }: Situation): StateAction {
  const id = random.pick(state.queuedMessages ?? [])?.id ?? 'nothing';
  return { type: 'session/pendingMessageRemoved', kind: 'queued', id };
}

function reorder({ state }: Situation): StateAction {
  const order = (state.queuedMessages ?? []).map(({ id }) => id).reverse();
  return { type: 'session/queuedMessagesReordered', order };
}

function steer({ name }: Situation): StateAction {
  return { type: 'session/pendingMessageSet', kind: 'steering', id: `steer-${name}`, userMessage: { text: name } };
}

function cancel({ state }: Situation): StateAction {
  return { type: 'session/turnCancelled', turnId: state.activeTurn?.id ?? 'nothing' };
}

function title({ name }: Situation): StateAction {
  return { type: 'session/titleChanged', title: `title ${name}` };
}

function model({ random }: Situation): StateAction {
  return { type: 'session/modelChanged', model: { id: random.pick(['small', 'large']) } };
}

function truncate({ state, random }: Situation): StateAction {
  if (random.chance(0.1)) return { type: 'session/truncated' };
  return { type: 'session/truncated', turnId: random.pick(state.turns)?.id ?? 'nothing' };
}

function claim({ state, clientId }: Situation): StateAction {
  if (state.activeClient?.clientId === clientId) return { type: 'session/activeClientChanged', activeClient: null };
  const tools = [{ name: CLIENT_TOOL, description: 'Looks things up', inputSchema: { type: 'object' as const } }];
  return { type: 'session/activeClientChanged', activeClient: { clientId, tools } };
}

function configure({ random }: Situation): StateAction {
  return { type: 'session/configChanged', config: { autoApprove: random.chance(0.3) } };
}

function flag({ random }: Situation): StateAction {
  return random.chance(0.5)
    ? { type: 'session/isReadChanged', isRead: random.chance(0.5) }
    : { type: 'session/isArchivedChanged', isArchived: random.chance(0.5) };
}

/** What a host must turn down: unknown, malformed, its own, or of another channel. */
function nonsense({ random }: Situation): StateAction {
  const actions: readonly [object, ...object[]] = [
    { type: 'session/nonsense' },
    { type: 'session/turnStarted', turnId: 7 },
    { type: 'session/ready' },
    { type: 'root/configChanged', config: {} },
  ];
  return random.pick(actions) as StateAction;
}

export function randomSessionsV1Action(
  state: SessionsV1SessionState,
  random: Random,
  name: string,
): SessionsV1Request | undefined {
  const { activeTurn } = state;
  const turnId = activeTurn?.id ?? 'nothing';
  const [requestId] = Object.keys(activeTurn?.pendingPermissions ?? {});
  const roll = random.next();
  if (roll < 0.35 && requestId !== undefined) {
    return { type: 'session/permissionResolved', turnId, requestId, approved: random.chance(0.6) };
  }
  if (roll < 0.6)
    return { type: 'session/turnStarted', turnId: `turn-${name}`, userMessage: { text: random.pick(FUZZ_PROMPTS) } };
  if (roll < 0.7) return { type: 'session/turnCancelled', turnId };
  if (roll < 0.9) return { type: 'session/modelChanged', model: random.pick(['small', 'large']) };
  return { type: 'session/titleChanged', title: 'not for sessions-v1' };
}
