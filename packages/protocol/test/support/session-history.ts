/**
 * Random but legal histories of a session. Every move looks at the state and offers only actions that a well-behaved
 * host would take at that moment; the same seed gives the same history.
 */
import type { SessionAction } from '../../src/session/actions.js';
import type { Customization } from '../../src/session/customizations.js';
import type { UserMessage } from '../../src/session/messages.js';
import { sessionReducer } from '../../src/session/reducer.js';
import type { SessionState } from '../../src/session/state.js';
import { SessionStatus } from '../../src/session/status.js';
import type { ToolCallResult, ToolCallState, ToolResultContent } from '../../src/session/tool-calls.js';
import type { ResponsePart } from '../../src/session/turns.js';
import {
  callsOf,
  completed,
  inputRequest,
  pendingConfirmation,
  pendingResult,
  plugin,
  running,
  skill,
} from './builders.js';

export interface HistoryStep {
  readonly action: SessionAction;
  readonly now: number;
  readonly before: SessionState;
  readonly after: SessionState;
}

export interface History {
  readonly seed: number;
  readonly initial: SessionState;
  readonly steps: readonly HistoryStep[];
  readonly final: SessionState;
}

export interface HistoryOptions {
  /** Text only grows at its end: never in a part that another part of its kind has followed. */
  readonly orderedText?: boolean;
  /** Now and then an action comes too late, or for something that never was, and finds nothing to change. */
  readonly lateActions?: boolean;
}

export interface Random {
  below(limit: number): number;
  chance(probability: number): boolean;
  /** One of a list that is not empty. */
  of<const T>(list: readonly [T, ...T[]]): T;
  /** One of a list, if it has any. */
  pick<T>(list: readonly T[]): T | undefined;
}

const START = 1_000;
const CHANNEL = 'ahp-session:/history';

export function randomHistory(seed: number, length: number, options: HistoryOptions = {}): History {
  const random = seededRandom(seed);
  const initial = newSession();
  const steps: HistoryStep[] = [];
  let names = 0;
  let state = initial;
  while (steps.length < length) {
    const fresh = (kind: string) => `${kind}-${++names}`;
    for (const action of weighted(random)({ state, random, fresh, options })) {
      const now = START + steps.length + 1;
      const after = sessionReducer(state, action, { now });
      steps.push({ action, now, before: state, after });
      state = after;
    }
  }
  return { seed, initial, steps, final: state };
}

/** A small generator of our own (mulberry32), so that a printed seed repeats a failure anywhere. */
export function seededRandom(seed: number): Random {
  let position = seed >>> 0;
  const next = () => {
    position = (position + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(position ^ (position >>> 15), position | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const below = (limit: number) => Math.floor(next() * limit);
  return {
    below,
    chance: (probability) => next() < probability,
    of: (list) => list[below(list.length)] ?? list[0],
    pick: (list) => list[below(list.length)],
  };
}

function newSession(): SessionState {
  const status = SessionStatus.Idle;
  const summary = { resource: CHANNEL, provider: 'echo', title: '', status, createdAt: START, modifiedAt: START };
  const schema = { type: 'object' as const, properties: {} };
  return { summary, lifecycle: 'creating', turns: [], config: { schema, values: {} } };
}

interface Scene {
  readonly state: SessionState;
  readonly random: Random;
  readonly options: HistoryOptions;
  fresh(kind: string): string;
}

/** What could happen next; nothing when it is not the time for it. */
type Move = (scene: Scene) => readonly SessionAction[];

const MOVES: readonly (readonly [weight: number, move: Move])[] = [
  [6, ends],
  [12, startsTurn],
  [10, addsPart],
  [14, streamsText],
  [6, startsCall],
  [6, streamsParameters],
  [12, finishesParameters],
  [2, refusesAtOnce],
  [10, answersConfirmation],
  [4, showsProgress],
  [9, completesCall],
  [6, answersResult],
  [3, becomesReady],
  [3, reportsUsage],
  [3, asksForInput],
  [4, answersInput],
  [5, changesPendingMessages],
  [5, changesSummary],
  [4, changesSettings],
  [4, changesCustomizations],
  [1, truncates],
  [6, comesTooLate],
];
const TOTAL_WEIGHT = MOVES.reduce((sum, [weight]) => sum + weight, 0);

function weighted(random: Random): Move {
  let left = random.below(TOTAL_WEIGHT);
  const chosen = MOVES.find(([weight]) => {
    left -= weight;
    return left < 0;
  });
  return chosen?.[1] ?? changesSummary;
}

function becomesReady({ state, random }: Scene): readonly SessionAction[] {
  if (state.lifecycle !== 'creating') return [];
  if (random.chance(0.9)) return [{ type: 'session/ready' }];
  return [{ type: 'session/creationFailed', error: { errorType: 'start', message: 'No backend' } }];
}

function startsTurn({ state, random, fresh }: Scene): readonly SessionAction[] {
  if (state.activeTurn || state.lifecycle === 'creationFailed') return [];
  const turnId = fresh('turn');
  const queued = random.chance(0.5) ? state.queuedMessages?.[0] : undefined;
  if (!queued) return [{ type: 'session/turnStarted', turnId, userMessage: message(random) }];
  return [{ type: 'session/turnStarted', turnId, userMessage: queued.userMessage, queuedMessageId: queued.id }];
}

function ends({ state, random }: Scene): readonly SessionAction[] {
  const turnId = state.activeTurn?.id;
  if (turnId === undefined) return [];
  const error = { errorType: 'model', message: 'Overloaded' };
  return [
    random.of<SessionAction>([
      { type: 'session/turnComplete', turnId },
      { type: 'session/turnComplete', turnId },
      { type: 'session/turnCancelled', turnId },
      { type: 'session/error', turnId, error },
    ]),
  ];
}

function addsPart({ state, random, fresh }: Scene): readonly SessionAction[] {
  const turnId = state.activeTurn?.id;
  if (turnId === undefined) return [];
  const content = random.chance(0.5) ? '' : text(random);
  const id = fresh('part');
  const made = { toolCallId: fresh('call') };
  const toolCall = random.of<ToolCallState>([
    running(made),
    pendingConfirmation(made),
    pendingResult(made),
    completed(made),
  ]);
  const part = random.of<ResponsePart>([
    { kind: 'markdown', id, content },
    { kind: 'markdown', id, content },
    { kind: 'reasoning', id, content },
    { kind: 'contentRef', uri: `content://history/${id}`, contentType: 'image/png' },
    { kind: 'systemNotification', content: { markdown: `*${id}*` } },
    { kind: 'toolCall', toolCall },
  ]);
  return [{ type: 'session/responsePart', turnId, part }];
}

function streamsText({ state, random, options }: Scene): readonly SessionAction[] {
  const { activeTurn } = state;
  const kind = random.of(['markdown', 'reasoning']);
  const parts = (activeTurn?.responseParts ?? []).filter((part) => part.kind === kind);
  const part = options.orderedText ? parts.at(-1) : random.pick(parts);
  if (!activeTurn || !part || !('id' in part)) return [];
  const type = kind === 'markdown' ? 'session/delta' : 'session/reasoning';
  return [{ type, turnId: activeTurn.id, partId: part.id, content: text(random) }];
}

function reportsUsage({ state, random }: Scene): readonly SessionAction[] {
  const turnId = state.activeTurn?.id;
  const usage = { inputTokens: random.below(900), outputTokens: random.below(90), _meta: { price: 1 } };
  return turnId === undefined ? [] : [{ type: 'session/usage', turnId, usage }];
}

function startsCall({ state, random, fresh }: Scene): readonly SessionAction[] {
  const turnId = state.activeTurn?.id;
  if (turnId === undefined) return [];
  const toolName = random.of(['shell', 'edit', 'search']);
  const owner = random.chance(0.2) ? { toolClientId: 'desk' } : {};
  return [
    { type: 'session/toolCallStart', turnId, toolCallId: fresh('call'), toolName, displayName: toolName, ...owner },
  ];
}

function streamsParameters({ state, random }: Scene): readonly SessionAction[] {
  const target = targetIn(state, random, 'streaming');
  if (!target) return [];
  const invocationMessage = random.chance(0.3) ? { markdown: `**${text(random)}**` } : undefined;
  return [{ type: 'session/toolCallDelta', ...target, content: text(random), invocationMessage }];
}

function finishesParameters({ state, random }: Scene): readonly SessionAction[] {
  const target = targetIn(state, random, random.chance(0.75) ? 'streaming' : 'running');
  if (!target) return [];
  const ready = { type: 'session/toolCallReady' as const, ...target, invocationMessage: text(random) };
  if (random.chance(0.4)) return [{ ...ready, toolInput: '{}', confirmed: random.of(['not-needed', 'setting']) }];
  const side = { uri: 'file:///srv/a.ts', content: { uri: 'content://history/a' } };
  const edits = random.chance(0.3) ? { items: [{ after: side }] } : undefined;
  const options = random.chance(0.3) ? [{ id: 'once', label: 'Once', kind: 'approve' as const }] : undefined;
  return [{ ...ready, toolInput: text(random), edits, editable: random.chance(0.5), options }];
}

/** A gate says no before anybody is asked: two actions that a host dispatches together. */
function refusesAtOnce({ state, random }: Scene): readonly SessionAction[] {
  const target = targetIn(state, random, random.of(['streaming', 'running']));
  if (!target) return [];
  const refusal = { approved: false as const, reason: 'denied' as const, reasonMessage: 'Blocked by a gate' };
  return [
    { type: 'session/toolCallReady', ...target, invocationMessage: text(random) },
    { type: 'session/toolCallConfirmed', ...target, ...refusal },
  ];
}

function answersConfirmation({ state, random }: Scene): readonly SessionAction[] {
  const target = targetIn(state, random, 'pending-confirmation');
  if (!target) return [];
  const call = callsOf(state).find(({ toolCallId }) => toolCallId === target.toolCallId);
  const answer = { type: 'session/toolCallConfirmed' as const, ...target };
  if (random.chance(0.3)) return [{ ...answer, approved: false, reason: random.of(['denied', 'skipped']) }];
  const { options, editable } = call?.status === 'pending-confirmation' ? call : {};
  const editedToolInput = editable && random.chance(0.4) ? text(random) : undefined;
  const confirmed = random.of(['user-action', 'setting']);
  return [{ ...answer, approved: true, confirmed, editedToolInput, selectedOptionId: options?.[0]?.id }];
}

function showsProgress({ state, random }: Scene): readonly SessionAction[] {
  const target = targetIn(state, random, 'running');
  return target ? [{ type: 'session/toolCallContentChanged', ...target, content: content(random) }] : [];
}

function completesCall({ state, random }: Scene): readonly SessionAction[] {
  const target = targetIn(state, random, random.chance(0.85) ? 'running' : 'pending-confirmation');
  if (!target) return [];
  const result: ToolCallResult = random.chance(0.75)
    ? { success: true, pastTenseMessage: { markdown: text(random) }, content: content(random) }
    : { success: false, pastTenseMessage: 'Failed', error: { message: 'Exit 1', code: 'exit' } };
  return [{ type: 'session/toolCallComplete', ...target, result, requiresResultConfirmation: random.chance(0.35) }];
}

function answersResult({ state, random }: Scene): readonly SessionAction[] {
  const target = targetIn(state, random, 'pending-result-confirmation');
  return target ? [{ type: 'session/toolCallResultConfirmed', ...target, approved: random.chance(0.7) }] : [];
}

function asksForInput({ state, random, fresh }: Scene): readonly SessionAction[] {
  const known = random.chance(0.3) ? random.pick(state.inputRequests ?? []) : undefined;
  const questions = [{ kind: 'text' as const, id: 'name', message: 'Which name?' }];
  return [{ type: 'session/inputRequested', request: inputRequest(known?.id ?? fresh('input'), { questions }) }];
}

function answersInput({ state, random }: Scene): readonly SessionAction[] {
  const requestId = random.pick(state.inputRequests ?? [])?.id;
  if (requestId === undefined) return [];
  if (random.chance(0.5)) {
    return [{ type: 'session/inputCompleted', requestId, response: random.of(['accept', 'decline', 'cancel']) }];
  }
  const value = { kind: 'text' as const, value: text(random) };
  const answer = random.chance(0.8) ? { state: 'draft' as const, value } : undefined;
  return [{ type: 'session/inputAnswerChanged', requestId, questionId: 'name', answer }];
}

function changesPendingMessages({ state, random, fresh }: Scene): readonly SessionAction[] {
  const queued = state.queuedMessages ?? [];
  const kind = random.of(['steering', 'queued']);
  const known = kind === 'queued' ? random.pick(queued) : state.steeringMessage;
  if (known && random.chance(0.5)) return [{ type: 'session/pendingMessageRemoved', kind, id: known.id }];
  if (queued.length > 1 && random.chance(0.3)) {
    return [{ type: 'session/queuedMessagesReordered', order: queued.map(({ id }) => id).reverse() }];
  }
  const id = known && random.chance(0.3) ? known.id : fresh('message');
  return [{ type: 'session/pendingMessageSet', kind, id, userMessage: message(random) }];
}

/** Hosts hold changes of model and agent back while a turn runs. */
function changesSummary({ state, random }: Scene): readonly SessionAction[] {
  const always: [SessionAction, ...SessionAction[]] = [
    { type: 'session/titleChanged', title: text(random) },
    { type: 'session/isReadChanged', isRead: random.chance(0.5) },
    { type: 'session/isArchivedChanged', isArchived: random.chance(0.5) },
    { type: 'session/activityChanged', activity: random.chance(0.5) ? text(random) : undefined },
    { type: 'session/changesetsChanged', changesets: [{ label: 'Turn', uriTemplate: 'ahp-changeset:/{id}' }] },
  ];
  if (state.activeTurn) return [random.of(always)];
  const model = { id: random.of(['small', 'large']), config: { effort: 'low' } };
  const agent = random.chance(0.5) ? { uri: 'file:///agents/a.md' } : undefined;
  return [random.of([...always, { type: 'session/modelChanged', model }, { type: 'session/agentChanged', agent }])];
}

function changesSettings({ state, random }: Scene): readonly SessionAction[] {
  const tools = [{ name: random.of(['find', 'open']) }];
  const activeClient = state.activeClient ? null : { clientId: 'desk', tools };
  const always: [SessionAction, ...SessionAction[]] = [
    { type: 'session/serverToolsChanged', tools },
    { type: 'session/configChanged', config: { [text(random)]: 1 }, replace: random.chance(0.3) },
    { type: 'session/metaChanged', _meta: random.chance(0.7) ? { git: text(random) } : undefined },
    { type: 'session/activeClientChanged', activeClient },
  ];
  return [random.of(state.activeClient ? [...always, { type: 'session/activeClientToolsChanged', tools }] : always)];
}

function changesCustomizations({ state, random, fresh }: Scene): readonly SessionAction[] {
  const added = plugin(fresh('plugin'), { children: [skill(fresh('skill'))] } as Partial<Customization>);
  const known = random.pick(state.customizations ?? []);
  if (!known) return [{ type: 'session/customizationsChanged', customizations: [added] }];
  const child = known.children?.[0]?.id;
  return [
    random.of<SessionAction>([
      { type: 'session/customizationToggled', id: known.id, enabled: random.chance(0.5) },
      { type: 'session/customizationUpdated', customization: random.chance(0.5) ? added : { ...known, name: 'Other' } },
      { type: 'session/customizationRemoved', id: child !== undefined && random.chance(0.5) ? child : known.id },
    ]),
  ];
}

function truncates({ state, random }: Scene): readonly SessionAction[] {
  if (state.turns.length === 0) return [];
  const turnId = random.chance(0.7) ? random.pick(state.turns)?.id : undefined;
  return [{ type: 'session/truncated', turnId }];
}

function comesTooLate({ state, random, options }: Scene): readonly SessionAction[] {
  if (!options.lateActions) return [];
  const turnId = random.of([state.activeTurn?.id ?? 'no-turn', 'no-turn']);
  const call = random.pick(callsOf(state));
  const target = { turnId, toolCallId: call?.toolCallId ?? 'no-call' };
  const late: [SessionAction, ...SessionAction[]] = [
    { type: 'session/delta', turnId, partId: target.toolCallId, content: 'late' },
    { type: 'session/reasoning', turnId: 'no-turn', partId: 'part-1', content: 'late' },
    { type: 'session/turnCancelled', turnId: 'no-turn' },
    { type: 'session/truncated', turnId: 'no-turn' },
  ];
  if (!call || call.status === 'streaming' || call.status === 'running') return [random.of(late)];
  const ready: SessionAction = { type: 'session/toolCallReady', ...target, invocationMessage: 'late' };
  const result = { success: true, pastTenseMessage: 'late' };
  if (call.status === 'pending-confirmation') return [random.of([...late, ready])];
  const complete: SessionAction = { type: 'session/toolCallComplete', ...target, result };
  const denied = { type: 'session/toolCallConfirmed', ...target, approved: false, reason: 'denied' } as const;
  return [random.of([...late, ready, complete, denied])];
}

function targetIn(state: SessionState, random: Random, status: ToolCallState['status']) {
  const call = random.pick(callsOf(state).filter((candidate) => candidate.status === status));
  return state.activeTurn && call && { turnId: state.activeTurn.id, toolCallId: call.toolCallId };
}

function message(random: Random): UserMessage {
  if (random.chance(0.6)) return { text: text(random) };
  const file = { type: 'resource' as const, uri: 'file:///srv/a%20b.ts', label: 'a b.ts', displayKind: 'document' };
  return { text: text(random), attachments: [file, { type: 'simple', label: 'note' }], _meta: { from: 'history' } };
}

function content(random: Random): ToolResultContent[] {
  const blocks: ToolResultContent[] = [
    { type: 'text', text: text(random) },
    { type: 'resource', uri: 'content://history/out' },
    { type: 'text', text: text(random) },
  ];
  return blocks.slice(0, random.below(4));
}

function text(random: Random): string {
  return random.of(['port ', 'the ', 'parser ', 'ü', '😀', 'quickly. ']);
}
