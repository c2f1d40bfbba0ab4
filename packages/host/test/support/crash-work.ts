/** What people do with sessions, chosen at random: one thing at a time, by what they see. */
import type { ResponsePart, SessionState, StateAction } from '@atrium/protocol';
import type { Actor } from './crash-actor.js';
import { CRASH_PROMPTS } from './crash-script.js';
import type { Random } from './fuzz-random.js';

const QUEUE_LIMIT = 4;

/** Does one thing, or nothing when there is nothing to do. */
export function workOnce(actor: Actor, random: Random): void {
  const ready = actor.sessions.filter(([, { lifecycle }]) => lifecycle === 'ready');
  const [uri, state] = random.pick(ready) ?? [];
  if (!uri || !state) return;
  const action = nextAction(state, random, `${actor.clientId}-${actor.dispatched.length + 1}`);
  if (action) actor.dispatch(uri, action);
}

/** Ids and texts hold the name and the number of who made them, so that each is there only once. */
function nextAction(state: SessionState, random: Random, name: string): StateAction | undefined {
  const answer = answerTo(state, random);
  if (answer && random.chance(0.6)) return answer;
  const roll = random.next();
  if (roll < 0.45) return start(state, random, name);
  if (roll < 0.65) return enqueue(state, name);
  if (roll < 0.75) return { type: 'session/titleChanged', title: `title ${name}` };
  if (roll < 0.85) return cancel(state);
  if (roll < 0.9) return { type: 'session/modelChanged', model: { id: random.pick(['small', 'large']) } };
  if (roll < 0.93) return unqueue(state);
  return undefined;
}

/** Mostly when nothing runs; sometimes although something does, which is turned down. */
function start({ activeTurn }: SessionState, random: Random, name: string): StateAction | undefined {
  if (activeTurn && !random.chance(0.05)) return undefined;
  return { type: 'session/turnStarted', turnId: `turn-${name}`, userMessage: { text: random.pick(CRASH_PROMPTS) } };
}

function enqueue({ queuedMessages = [] }: SessionState, name: string): StateAction | undefined {
  if (queuedMessages.length >= QUEUE_LIMIT) return undefined;
  const userMessage = { text: `message ${name}` };
  return { type: 'session/pendingMessageSet', kind: 'queued', id: `queued-${name}`, userMessage };
}

function unqueue({ queuedMessages = [] }: SessionState): StateAction | undefined {
  const last = queuedMessages.at(-1);
  return last && { type: 'session/pendingMessageRemoved', kind: 'queued', id: last.id };
}

function cancel({ activeTurn }: SessionState): StateAction | undefined {
  return activeTurn && { type: 'session/turnCancelled', turnId: activeTurn.id };
}

/** An answer to whatever waits for one. */
export function answerTo({ activeTurn, inputRequests }: SessionState, random: Random): StateAction | undefined {
  const [question] = inputRequests ?? [];
  if (question) return { type: 'session/inputCompleted', requestId: question.id, response: 'accept' };
  const call = activeTurn?.responseParts.find(isPending);
  if (!activeTurn || call?.kind !== 'toolCall') return undefined;
  const target = { turnId: activeTurn.id, toolCallId: call.toolCall.toolCallId };
  return random.chance(0.7)
    ? { type: 'session/toolCallConfirmed', ...target, approved: true, confirmed: 'user-action' }
    : { type: 'session/toolCallConfirmed', ...target, approved: false, reason: 'denied' };
}

function isPending(part: ResponsePart): boolean {
  return part.kind === 'toolCall' && part.toolCall.status === 'pending-confirmation';
}
