/**
 * Plays one message to its end: reports what is new, answers tool calls by policy, and stops the turn when its time is
 * up.
 */
import { randomUUID } from 'node:crypto';
import type { Client, OpenSession, OpenSessionState } from '@atrium/client';
import {
  BUDGET_QUESTION,
  isStanding,
  type Message,
  type SessionInputRequest,
  type SessionState,
  type ToolCallState,
  type Turn,
} from '@atrium/protocol/ahp-1';
import { UsageError } from '../exit.js';
import { chatTree, workerParent } from '../sessions/chats.js';
import {
  approve,
  callsIn,
  deny,
  isOver,
  lastingOption,
  type OpenAction,
  openRequests,
  type PendingCall,
  resumableTurn,
  turnOf,
} from '../sessions/turn-text.js';
import { Progress, type TurnUpdate } from './report.js';

/** How long a stopped turn may take to end in good order. */
const STOP_GRACE_MS = 3_000;

interface RunOptions {
  /** The message; without one, the last turn resumes where it failed. */
  readonly message: Message | undefined;
  readonly approvals: Approvals;
  /** Aborted when the turn has to stop, with the reason. */
  readonly signal: AbortSignal;
  readonly onUpdate: (update: TurnUpdate) => void;
  readonly onDenied: (toolName: string) => void;
}

export interface RunOutcome {
  readonly turn: Turn;
  readonly denied: number;
}

/** Rejects with the signal's reason when it is aborted before the turn is over. */
export async function runTurn(client: Client, open: OpenSession, options: RunOptions): Promise<RunOutcome> {
  options.signal.throwIfAborted();
  return orStopped(play(client, open, options), options.signal);
}

/** Stops waiting when the signal is aborted, also for a host that does not answer at all. */
export function orStopped<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const stopped = new Promise<never>((_, reject) => {
    const stop = () => reject(signal.reason);
    if (signal.aborted) stop();
    else signal.addEventListener('abort', stop, { once: true });
  });
  return Promise.race([work, stopped]);
}

async function play(client: Client, open: OpenSession, options: RunOptions): Promise<RunOutcome> {
  const { message } = options;
  const progress = new Progress();
  const turnId = message ? await sendMessage(open, message) : await resume(open, progress);
  const policy = new Policy(options.approvals);
  let denied = 0;
  for await (const { session, chat } of open) {
    const turn = turnOf(chat, turnId);
    if (turn) for (const update of progress.read(turn)) options.onUpdate(update);
    if (turn && isOver(turn)) return { turn, denied };
    if (session.lifecycle === 'failed') throw creationError(session);
    denied += answer(client, open, { policy, onDenied: options.onDenied });
  }
  throw new Error('the session was disposed before the answer was complete');
}

interface Answering extends Pick<RunOptions, 'onDenied'> {
  readonly policy: Policy;
}

/** Answers calls by policy and declines questions. Returns how many tools were not allowed to run. */
function answer(client: Client, { state }: OpenSession, { policy, onDenied }: Answering): number {
  const decisions = policy.decide(state);
  for (const { action, chat } of decisions) client.dispatch(chat, action).catch(() => {});
  const refused = decisions.filter(({ isAllowed }) => !isAllowed);
  for (const { toolName } of refused) onDenied(toolName);
  for (const { requestId, chat } of policy.unasked(state)) {
    client.dispatch(chat, { type: 'chat/inputCompleted', requestId, response: 'decline' }).catch(() => {});
  }
  return refused.length;
}

function creationError({ creationError: error }: SessionState): Error {
  return new Error(`the agent could not be started: ${error?.message ?? 'it does not say why'}`);
}

/** Stops the running turn and waits a moment for its end, so that nothing continues unseen. */
export async function stopTurn(client: Client, open: OpenSession): Promise<void> {
  const turnId = open.state.chat.activeTurn?.id;
  if (turnId === undefined || client.status.at !== 'open') return;
  const stopped = open.dispatch({ type: 'chat/turnCancelled', turnId }).catch(() => {});
  await Promise.race([stopped, new Promise((resolve) => setTimeout(resolve, STOP_GRACE_MS).unref())]);
}

/** Resolves with the id of the turn that answers the message, once that turn has begun. */
async function sendMessage(open: OpenSession, message: Message): Promise<string> {
  if (!open.state.chat.activeTurn) {
    const turnId = randomUUID();
    await open.dispatch({ type: 'chat/turnStarted', turnId, message });
    return turnId;
  }
  const id = randomUUID();
  const actions = open.chat.actions();
  await open.dispatch({ type: 'chat/pendingMessageSet', kind: 'queued', id, message });
  for await (const { action } of actions)
    if (action.type === 'chat/turnStarted' && action.queuedMessageId === id) return action.turnId;
  throw new Error('the session was disposed before the message had its turn');
}

/** Resumes the turn that failed last, and does not report its earlier parts again. */
async function resume(open: OpenSession, progress: Progress): Promise<string> {
  const turn = resumableTurn(open.state.chat);
  if (!turn)
    throw new UsageError('there is nothing to resume: the last turn did not fail in a way that it can go on from');
  progress.skip(turn);
  await open.dispatch({ type: 'chat/turnResume', turnId: turn.id });
  return turn.id;
}

// The policy for tool calls: `run` cannot ask anybody, so the user decides beforehand.

export const APPROVALS = ['reads', 'all', 'none'] as const;
export type Approvals = (typeof APPROVALS)[number];

interface Decision {
  readonly toolName: string;
  readonly isAllowed: boolean;
  readonly chat: string;
  readonly action: OpenAction;
}

/** A call that waits for a person, in the chat of the turn or in that of a worker. */
interface Asked {
  readonly chat: string;
  readonly turnId: string;
  readonly call: ToolCallState;
}

const WHY_NOT = 'No person is here to allow this. Go on without it, or say what should be run.';

export class Policy {
  readonly #approvals: Approvals;
  /** The answered questions, by call and state: a call may ask twice. */
  readonly #answered = new Set<string>();

  constructor(approvals: Approvals) {
    this.#approvals = approvals;
  }

  /** The answers to give now. Each question gets one answer. */
  decide(state: OpenSessionState): Decision[] {
    if (!state.chat.activeTurn) return [];
    return askedIn(state).flatMap(({ chat, turnId, call }): Decision[] => {
      const { toolCallId, toolName, status } = call;
      if (status === 'pending-confirmation') {
        if (!this.#isNew(`${chat} ${toolCallId} ask`)) return [];
        const isAllowed = this.#allows(isReadOnly(call, state.session));
        const target = { turnId, call };
        const action = isAllowed ? approve(target) : deny(target, { reason: WHY_NOT });
        return [{ toolName, isAllowed, chat, action }];
      }
      if (status !== 'pending-result-confirmation' || !this.#isNew(`${chat} ${toolCallId} result`)) return [];
      const isAllowed = this.#approvals === 'all';
      const action = { type: 'chat/toolCallResultConfirmed' as const, turnId, toolCallId, approved: isAllowed };
      return [{ toolName, isAllowed, chat, action }];
    });
  }

  /** Questions of the running turn that `run` has not declined yet. Questions outside the turn wait for a person. */
  unasked(state: OpenSessionState): { readonly requestId: string; readonly chat: string }[] {
    const { session, chat } = state;
    if (!chat.activeTurn) return [];
    const standing = (session.inputNeeded ?? [])
      .filter(isStanding)
      .map(({ request }) => request.id)
      // `run` declines a question about a budget, because its own turn waits for the answer.
      .filter((id) => !id.startsWith(BUDGET_QUESTION));
    const ofWorkers = fromWorkers(state).flatMap((entry) =>
      entry.kind === 'chatInput' ? [{ request: entry.request, chat: entry.chat }] : [],
    );
    return [...openRequests(state), ...ofWorkers].flatMap(({ request: { id }, chat: asker }) =>
      !standing.includes(id) && this.#isNew(`${asker} ${id} question`) ? [{ requestId: id, chat: asker }] : [],
    );
  }

  #allows(isRead: boolean): boolean {
    return this.#approvals === 'all' || (this.#approvals === 'reads' && isRead);
  }

  #isNew(key: string): boolean {
    if (this.#answered.has(key)) return false;
    this.#answered.add(key);
    return true;
  }
}

function askedIn(state: OpenSessionState): Asked[] {
  const { activeTurn, resource: chat } = state.chat;
  const own = callsIn(activeTurn).map((call) => ({ chat, turnId: activeTurn?.id ?? '', call }));
  const ofWorkers = fromWorkers(state).flatMap((entry) =>
    entry.kind === 'toolConfirmation' ? [{ chat: entry.chat, turnId: entry.turnId, call: entry.toolCall }] : [],
  );
  return [...own, ...ofWorkers];
}

/** The requests in chats of workers of this turn, and of their workers. Other chats belong to other people. */
function fromWorkers({ session, chat }: OpenSessionState): SessionInputRequest[] {
  const workers = new Set([chat.resource]);
  // A worker comes after the chat that it works for.
  for (const { chat: each } of chatTree(session))
    if (workers.has(workerParent(each.origin) ?? '')) workers.add(each.resource);
  workers.delete(chat.resource);
  return (session.inputNeeded ?? []).filter((entry) => workers.has(entry.chat) && !isStanding(entry));
}

/**
 * A client's tool may have the name of a host's tool, so the name alone does not tell what it does. A tool's own
 * question
 * offers to allow the tool for the session. A gate's question does not: a person must answer it.
 */
function isReadOnly(call: PendingCall, { serverTools = [] }: SessionState): boolean {
  if (call.contributor?.kind === 'client' || lastingOption(call) === undefined) return false;
  return serverTools.find(({ name }) => name === call.toolName)?.annotations?.readOnlyHint === true;
}
