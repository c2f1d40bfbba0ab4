/** Things that people do, sensible and not: chosen at random from what a client sees. */
import type { SessionsV1SessionState } from '@atrium/protocol/dialects';
import type { Random } from './fuzz-random.js';
import { FUZZ_EDITS, FUZZ_PROMPTS } from './fuzz-script.js';
import type { SessionsV1Request } from './fuzz-sessions-v1-client.js';
import type { Intent, Seen } from './fuzz-speech.js';

interface Situation {
  readonly seen: Seen;
  readonly random: Random;
  /** Unique: ids and texts are made of it. */
  readonly name: string;
}

type Idea = (situation: Situation) => Intent | undefined;

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

export function randomIntent(situation: Situation): Intent | undefined {
  const { seen, random } = situation;
  const isEditable = seen.calls.some(({ status, editable }) => status === 'pending-confirmation' && editable);
  if (isEditable && random.chance(0.4)) return answer(situation);
  return situation.random.pick(IDEAS)(situation);
}

function start({ random, name }: Situation): Intent {
  return { wants: 'start', turnId: `turn-${name}`, text: random.pick(FUZZ_PROMPTS) };
}

/** Whatever waits for a client: a question, a permission, a tool of a client. */
export function answer({ seen, random }: Situation): Intent | undefined {
  const [question] = seen.questions;
  if (question !== undefined) {
    const response = random.pick(['accept', 'decline', 'cancel'] as const);
    return { wants: 'answer', requestId: question, response, isFull: random.chance(0.8) };
  }
  const open = seen.calls.filter(({ status }) => status === 'pending-confirmation' || status === 'running');
  const call = random.pick(open);
  if (!call || seen.turn === undefined) return undefined;
  const target = { turnId: seen.turn, toolCallId: call.toolCallId };
  if (call.status === 'running') return { wants: 'complete', ...target };
  const approved = random.chance(0.6);
  const edited = call.editable && approved && random.chance(0.6) ? random.pick(FUZZ_EDITS) : undefined;
  return { wants: 'confirm', ...target, approved, edited };
}

function enqueue({ seen, random, name }: Situation): Intent {
  const known = random.pick(seen.queued);
  const id = known !== undefined && random.chance(0.2) ? known : `queued-${name}`;
  return { wants: 'message', kind: 'queued', id, text: `message ${name}` };
}

function unqueue({ seen, random }: Situation): Intent {
  return { wants: 'unqueue', id: random.pick(seen.queued) ?? 'nothing' };
}

function reorder({ seen }: Situation): Intent {
  return { wants: 'reorder', order: seen.queued.toReversed() };
}

function steer({ name }: Situation): Intent {
  return { wants: 'message', kind: 'steering', id: `steer-${name}`, text: name };
}

function cancel({ seen }: Situation): Intent {
  return { wants: 'cancel', turnId: seen.turn ?? 'nothing' };
}

function title({ name }: Situation): Intent {
  return { wants: 'title', title: `title ${name}` };
}

function model({ random }: Situation): Intent {
  return { wants: 'model', id: random.pick(['small', 'large']) };
}

function truncate({ seen, random }: Situation): Intent {
  if (random.chance(0.1)) return { wants: 'truncate' };
  return { wants: 'truncate', turnId: random.pick(seen.turns) ?? 'nothing' };
}

function claim({ seen }: Situation): Intent {
  return { wants: 'role', isActive: !seen.isActive };
}

function configure({ random }: Situation): Intent {
  return { wants: 'config', config: { autoApprove: random.chance(0.3) } };
}

function flag({ random }: Situation): Intent {
  return { wants: 'flag', flag: random.pick(['isRead', 'isArchived']), value: random.chance(0.5) };
}

function nonsense({ random }: Situation): Intent {
  return { wants: 'nonsense', which: random.below(4) };
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
