/**
 * Plays one message to its end: reports what is new, answers tool calls by policy, and stops the turn when its time is
 * up.
 */
import { randomUUID } from 'node:crypto';
import type { Client, OpenSession, OpenSessionState } from '@atrium/client';
import { isStanding, type Message, type SessionState, type Turn } from '@atrium/protocol/ahp-1';
import { UsageError } from '../exit.js';
import {
  approve,
  callsIn,
  deny,
  isOver,
  lastingOption,
  type OpenAction,
  openRequests,
  pendingCalls,
  resumableTurn,
  turnOf,
} from '../sessions/turn-text.js';
import { Progress, type TurnUpdate } from './report.js';

/** What a stopped turn may take to end in good order. */
const STOP_GRACE_MS = 3_000;

interface RunOptions {
  /** The message; without one, the last turn goes on where it failed. */
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
export async function runTurn(open: OpenSession, options: RunOptions): Promise<RunOutcome> {
  options.signal.throwIfAborted();
  return orStopped(play(open, options), options.signal);
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

async function play(open: OpenSession, options: RunOptions): Promise<RunOutcome> {
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
    denied += answer(open, policy, options);
  }
  throw new Error('the session was disposed before the answer was complete');
}

/** Questions that a turn asks have no answer here. Returns how many tools were not allowed to run. */
function answer(open: OpenSession, policy: Policy, { onDenied }: RunOptions): number {
  const { state } = open;
  const decisions = policy.decide(state);
  for (const { action } of decisions) open.dispatch(action).catch(() => {});
  const refused = decisions.filter(({ isAllowed }) => !isAllowed);
  for (const { toolName } of refused) onDenied(toolName);
  for (const requestId of policy.unasked(state)) {
    open.dispatch({ type: 'chat/inputCompleted', requestId, response: 'decline' }).catch(() => {});
  }
  return refused.length;
}

function creationError({ creationError: error }: SessionState): Error {
  return new Error(`the agent could not be started: ${error?.message ?? 'it does not say why'}`);
}

/** Stops the turn that runs and waits a moment for its end, so that nothing goes on unseen. */
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

/** Takes up the turn that failed last. What it said before is not told again. */
async function resume(open: OpenSession, progress: Progress): Promise<string> {
  const turn = resumableTurn(open.state.chat);
  if (!turn)
    throw new UsageError('there is nothing to resume: the last turn did not fail in a way that it can go on from');
  progress.skip(turn);
  await open.dispatch({ type: 'chat/turnResume', turnId: turn.id });
  return turn.id;
}

// The policy of tool calls: no person is there to ask, so the user decides beforehand.

export const APPROVALS = ['reads', 'all', 'none'] as const;
export type Approvals = (typeof APPROVALS)[number];

interface Decision {
  readonly toolName: string;
  readonly isAllowed: boolean;
  readonly action: OpenAction;
}

const WHY_NOT = 'No person is here to allow this. Go on without it, or say what should be run.';

export class Policy {
  readonly #approvals: Approvals;
  /** What was answered already, by call and state: a call may ask twice. */
  readonly #answered = new Set<string>();

  constructor(approvals: Approvals) {
    this.#approvals = approvals;
  }

  /** The answers that are due. Each question is answered once. */
  decide({ chat: { activeTurn }, session: { serverTools = [] } }: OpenSessionState): Decision[] {
    if (!activeTurn) return [];
    const turnId = activeTurn.id;
    const asked = pendingCalls(activeTurn).flatMap((call): Decision[] => {
      if (!this.#isNew(`${call.toolCallId} ask`)) return [];
      // A client's tool may have the name of one of the host's, and then says nothing of what it does.
      const tool =
        call.contributor?.kind !== 'client' ? serverTools.find(({ name }) => name === call.toolName) : undefined;
      // A tool's own question offers to allow the tool for the session. A gate's question does not: a person must answer it.
      const isOfTool = lastingOption(call) !== undefined;
      const isAllowed = this.#allows(isOfTool && tool?.annotations?.readOnlyHint === true);
      const target = { turnId, call };
      const action = isAllowed ? approve(target) : deny(target, { reason: WHY_NOT });
      return [{ toolName: call.toolName, isAllowed, action }];
    });
    const results = callsIn(activeTurn).flatMap((call): Decision[] => {
      if (call.status !== 'pending-result-confirmation' || !this.#isNew(`${call.toolCallId} result`)) return [];
      const isAllowed = this.#approvals === 'all';
      const { toolCallId, toolName } = call;
      const action = { type: 'chat/toolCallResultConfirmed' as const, turnId, toolCallId, approved: isAllowed };
      return [{ toolName, isAllowed, action }];
    });
    return [...asked, ...results];
  }

  /** Questions of the running turn that were not declined yet: nobody is here to answer them. Others wait for a person. */
  unasked(state: OpenSessionState): string[] {
    if (!state.chat.activeTurn) return [];
    const standing = new Set(
      (state.session.inputNeeded ?? []).flatMap((entry) => (isStanding(entry) ? [entry.request.id] : [])),
    );
    return openRequests(state).flatMap(({ request: { id } }) =>
      !standing.has(id) && this.#isNew(`${id} question`) ? [id] : [],
    );
  }

  #allows(isReadOnly: boolean): boolean {
    return this.#approvals === 'all' || (this.#approvals === 'reads' && isReadOnly);
  }

  #isNew(key: string): boolean {
    if (this.#answered.has(key)) return false;
    this.#answered.add(key);
    return true;
  }
}
