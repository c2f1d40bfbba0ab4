/** Plays one message to its end: tells what is new, answers for tools, and stops the turn when there is no more time. */
import type { Client, Subscription } from '@atrium/client';
import type { SessionState, Turn } from '@atrium/protocol';
import { isOver, turnOf } from '../sessions/turns.js';
import type { Approvals } from './policy.js';
import { Policy } from './policy.js';
import { type News, Progress } from './progress.js';
import { sendMessage } from './send.js';

/** What a stopped turn may take to end in good order. */
const STOP_GRACE_MS = 3_000;

export interface RunOptions {
  readonly text: string;
  readonly approvals: Approvals;
  /** Aborted when the turn has to stop, with the reason. */
  readonly signal: AbortSignal;
  readonly onNews: (news: News) => void;
  readonly onDenied: (toolName: string) => void;
}

export interface RunOutcome {
  readonly turn: Turn;
  readonly denied: number;
}

/** Rejects with the signal's reason when it is aborted before the turn is over. */
export async function runTurn(session: Subscription, options: RunOptions): Promise<RunOutcome> {
  options.signal.throwIfAborted();
  return orStopped(play(session, options), options.signal);
}

/** Nobody waits for work any longer when the signal says so, also when a host does not answer at all. */
export function orStopped<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const stopped = new Promise<never>((_, reject) => {
    const stop = () => reject(signal.reason);
    if (signal.aborted) stop();
    else signal.addEventListener('abort', stop, { once: true });
  });
  return Promise.race([work, stopped]);
}

async function play(session: Subscription, options: RunOptions): Promise<RunOutcome> {
  const turnId = await sendMessage(session, options.text);
  const policy = new Policy(options.approvals);
  const progress = new Progress();
  let denied = 0;
  for await (const state of session) {
    const turn = turnOf(state, turnId);
    if (turn) for (const news of progress.read(turn)) options.onNews(news);
    if (turn && isOver(turn)) return { turn, denied };
    if (state.lifecycle === 'creationFailed') throw creationError(state);
    denied += answer(session, policy, options);
  }
  throw new Error('the session was disposed before the answer was complete');
}

/** Questions that a turn asks have no answer here. Returns how many tools were not allowed to run. */
function answer(session: Subscription, policy: Policy, { onDenied }: RunOptions): number {
  const { state } = session;
  const decisions = policy.decide(state);
  for (const { action } of decisions) session.dispatch(action).catch(() => {});
  const refused = decisions.filter(({ isAllowed }) => !isAllowed);
  for (const { toolName } of refused) onDenied(toolName);
  for (const { id } of state.activeTurn ? (state.inputRequests ?? []) : []) {
    if (/^(pair|trust)-/.test(id)) continue;
    session.dispatch({ type: 'session/inputCompleted', requestId: id, response: 'decline' }).catch(() => {});
  }
  return refused.length;
}

function creationError({ creationError: error }: SessionState): Error {
  return new Error(`the agent could not be started: ${error?.message ?? 'it does not say why'}`);
}

/** Stops the turn that runs and waits a moment for its end, so that nothing goes on unseen. */
export async function stopTurn(client: Client, session: Subscription): Promise<void> {
  const turnId = session.state.activeTurn?.id;
  if (turnId === undefined || client.status.at !== 'open') return;
  const stopped = session.dispatch({ type: 'session/turnCancelled', turnId }).catch(() => {});
  await Promise.race([stopped, new Promise((resolve) => setTimeout(resolve, STOP_GRACE_MS).unref())]);
}
