/** What people do with sessions, chosen at random: one thing at a time, by what they see. */
import type { Actor } from './crash-actor.js';
import { CRASH_PROMPTS } from './crash-script.js';
import type { Random } from './fuzz-random.js';
import type { Intent, Seen } from './fuzz-speech.js';

const QUEUE_LIMIT = 4;

/** Does one thing, or nothing when there is nothing to do. */
export function workOnce(actor: Actor, random: Random): void {
  const ready = actor.sessions.filter(([, { isReady }]) => isReady);
  const [uri, seen] = random.pick(ready) ?? [];
  if (!uri || !seen) return;
  const intent = nextIntent(seen, random, `${actor.clientId}-${actor.dispatched.length + 1}`);
  if (intent) actor.ask(uri, intent);
}

/** Ids and texts hold the name and the number of who made them, so that each is there only once. */
function nextIntent(seen: Seen, random: Random, name: string): Intent | undefined {
  const answer = answerTo(seen, random);
  if (answer && random.chance(0.6)) return answer;
  const roll = random.next();
  if (roll < 0.45) return start(seen, random, name);
  if (roll < 0.65) return enqueue(seen, name);
  if (roll < 0.75) return { wants: 'title', title: `title ${name}` };
  if (roll < 0.85) return cancel(seen);
  if (roll < 0.9) return { wants: 'model', id: random.pick(['small', 'large']) };
  if (roll < 0.93) return unqueue(seen);
  return undefined;
}

/** Mostly when nothing runs; sometimes although something does, which is turned down. */
function start({ turn }: Seen, random: Random, name: string): Intent | undefined {
  if (turn !== undefined && !random.chance(0.05)) return undefined;
  return { wants: 'start', turnId: `turn-${name}`, text: random.pick(CRASH_PROMPTS) };
}

function enqueue({ queued }: Seen, name: string): Intent | undefined {
  if (queued.length >= QUEUE_LIMIT) return undefined;
  return { wants: 'message', kind: 'queued', id: `queued-${name}`, text: `message ${name}` };
}

function unqueue({ queued }: Seen): Intent | undefined {
  const id = queued.at(-1);
  return id === undefined ? undefined : { wants: 'unqueue', id };
}

export function cancel({ turn }: Seen): Intent | undefined {
  return turn === undefined ? undefined : { wants: 'cancel', turnId: turn };
}

/** An answer to whatever waits for one. */
export function answerTo({ turn, questions, calls }: Seen, random: Random): Intent | undefined {
  const [question] = questions;
  if (question !== undefined) return { wants: 'answer', requestId: question, response: 'accept', isFull: false };
  const call = calls.find(({ status }) => status === 'pending-confirmation');
  if (turn === undefined || !call) return undefined;
  return { wants: 'confirm', turnId: turn, toolCallId: call.toolCallId, approved: random.chance(0.7) };
}
