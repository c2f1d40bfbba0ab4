/** Whatever happens in a session, a sessions-v1 client that follows it sees what a new one would be shown. */
import { describe, expect, it } from 'vitest';
import type { ActionEnvelope } from '../../../src/common/envelope.js';
import { type ChannelMemory, NO_MEMORY, type Step } from '../../../src/dialects/index.js';
import { translateSteps } from '../../../src/dialects/sessions-v1/actions.js';
import { sessionStateToWire } from '../../../src/dialects/sessions-v1/state.js';
import type {
  SessionsV1ActionEnvelope,
  SessionsV1ActiveTurn,
  SessionsV1SessionState,
  SessionsV1Turn,
} from '../../../src/dialects/sessions-v1/wire.js';
import { deepFreeze } from '../../support/fixtures.js';
import { type History, type Random, randomHistory, seededRandom } from '../../support/session-history.js';
import { applySessionsV1 } from '../../support/sessions-v1-client.js';

const SEEDS = Array.from({ length: 100 }, (_, index) => index + 1);
const LENGTH = 150;
const CHANNEL = 'ahp-session:/history';

describe('a sessions-v1 client that follows a session', () => {
  const followers: Follower[] = [];

  it('[V1-029] [V1-051] [V1-055] [V1-061] has after every tick the view of a fresh snapshot', () => {
    for (const seed of SEEDS) followers.push(followHistory(seed));
    expect(followers.some(({ closes }) => closes > 0)).toBe(true);
  });

  it('sees the same whether a tick is translated whole or action by action', () => {
    for (const seed of SEEDS) {
      const steps = stepsOf(randomHistory(seed, LENGTH), () => true);
      const whole = translateSteps(NO_MEMORY, steps.filter(isNotCut));
      const single = inBatches(steps.filter(isNotCut), () => 1);
      expect(single, `seed ${seed}`).toEqual({ memory: whole.memory, frames: whole.frames });
    }
  });

  it('[V1-005] never gets an action that sessions-v1 does not know', () => {
    const types = followers.flatMap(({ frames }) => frames).map(({ action }) => action.type);
    expect([...new Set(types)].sort()).toEqual(SESSION_ACTIONS);
  });
});

const SESSION_ACTIONS = [
  'session/creationFailed',
  'session/delta',
  'session/error',
  'session/modelChanged',
  'session/permissionRequest',
  'session/permissionResolved',
  'session/ready',
  'session/reasoning',
  'session/responsePart',
  'session/titleChanged',
  'session/toolComplete',
  'session/toolStart',
  'session/turnCancelled',
  'session/turnComplete',
  'session/turnStarted',
  'session/usage',
];

interface Follower {
  client: SessionsV1SessionState;
  memory: ChannelMemory;
  closes: number;
  readonly frames: SessionsV1ActionEnvelope[];
}

/** Follows a history in batches of random size, comparing after each of them. */
function followHistory(seed: number): Follower {
  const history = randomHistory(seed, LENGTH, { orderedText: true, lateActions: true });
  const random = seededRandom(seed + 1_000_000);
  const steps = stepsOf(history, () => random.chance(0.5));
  const unseen = new Set(steps.flatMap(stillStreaming));
  const follower: Follower = { client: sessionStateToWire(history.initial), memory: NO_MEMORY, closes: 0, frames: [] };
  for (const batch of batchesOf(steps, random)) {
    follow(follower, batch);
    const state = batch.at(-1)?.after ?? history.initial;
    const shown = sessionStateToWire(state, follower.memory);
    const exceptions = { unseen, unexplained: new Set(follower.frames.flatMap(refusedWithoutReason)) };
    expect(viewOf(follower.client, exceptions), `seed ${seed}`).toEqual(viewOf(shown, exceptions));
  }
  return follower;
}

function follow(follower: Follower, batch: readonly Step[]): void {
  const { memory, frames, close } = translateSteps(follower.memory, deepFreeze(batch));
  const last = batch.at(-1)?.after;
  follower.memory = memory;
  follower.frames.push(...frames);
  follower.client = frames.reduce(applySessionsV1, follower.client);
  if (close === undefined || !last) return;
  follower.closes += 1;
  follower.client = sessionStateToWire(last, memory);
}

/** Client-made actions get an origin: half of them at random, or all. */
function stepsOf({ steps }: History, hasOrigin: () => boolean): Step[] {
  return steps.map(({ action, before, after }, index) => {
    const isAnswer = action.type === 'session/toolCallConfirmed' || action.type === 'session/toolCallResultConfirmed';
    const origin = isAnswer && hasOrigin() ? { clientId: 'desk', clientSeq: index } : undefined;
    const envelope: ActionEnvelope = { channel: CHANNEL, action, serverSeq: index + 1, origin };
    return { envelope, before, after };
  });
}

function batchesOf(steps: readonly Step[], random: Random): Step[][] {
  const batches: Step[][] = [];
  for (let start = 0; start < steps.length; ) {
    const end = start + 1 + random.below(5);
    batches.push(steps.slice(start, end));
    start = end;
  }
  return batches;
}

function inBatches(
  steps: readonly Step[],
  size: () => number,
): { memory: ChannelMemory; frames: SessionsV1ActionEnvelope[] } {
  const frames: SessionsV1ActionEnvelope[] = [];
  let memory = NO_MEMORY;
  for (let start = 0; start < steps.length; ) {
    const end = start + size();
    const translated = translateSteps(memory, steps.slice(start, end));
    frames.push(...translated.frames);
    memory = translated.memory;
    start = end;
  }
  return { memory, frames };
}

function isNotCut({ envelope }: Step): boolean {
  return envelope.action.type !== 'session/truncated';
}

/** The two places where following and a snapshot are allowed to differ. */
interface Exceptions {
  /** Calls whose parameters still streamed when their turn ended: followers never heard of them. */
  readonly unseen: ReadonlySet<string>;
  /** Calls that were refused at once and without a reason: failed to followers, cancelled in a snapshot. */
  readonly unexplained: ReadonlySet<string>;
}

function stillStreaming({ before, after }: Step): string[] {
  const turn = before?.activeTurn;
  if (!turn || turn.id === after?.activeTurn?.id) return [];
  const calls = turn.responseParts.flatMap((part) => (part.kind === 'toolCall' ? [part.toolCall] : []));
  return calls.filter(({ status }) => status === 'streaming').map(({ toolCallId }) => toolCallId);
}

function refusedWithoutReason({ action }: SessionsV1ActionEnvelope): string[] {
  const isRefused = action.type === 'session/toolComplete' && action.result.error?.code === 'denied';
  return isRefused && action.result.pastTenseMessage === 'Denied' ? [action.toolCallId] : [];
}

function viewOf(
  { summary, lifecycle, creationError, turns, activeTurn }: SessionsV1SessionState,
  exceptions: Exceptions,
) {
  const { resource, title, model } = summary;
  const active = activeTurn && activeView(activeTurn, exceptions);
  return {
    resource,
    title,
    model,
    lifecycle,
    creationError,
    turns: turns.map((turn) => turnView(turn, exceptions)),
    active,
  };
}

function turnView(
  { id, userMessage, responseText, toolCalls, usage, state, error }: SessionsV1Turn,
  { unseen, unexplained }: Exceptions,
) {
  const calls = toolCalls.filter(({ toolCallId }) => !unseen.has(toolCallId));
  const results = Object.fromEntries(
    calls.map(({ toolCallId, success, error: failure, pastTenseMessage }) => {
      const isDenied = failure?.code === 'denied' && !unexplained.has(toolCallId);
      return [toolCallId, [success, isDenied && pastTenseMessage]];
    }),
  );
  return { id, userMessage, responseText, results, usage, state, error };
}

function activeView({ toolCalls, pendingPermissions, ...turn }: SessionsV1ActiveTurn, { unexplained }: Exceptions) {
  const statuses = Object.values(toolCalls).map(({ toolCallId, status }) => {
    return [toolCallId, unexplained.has(toolCallId) ? 'refused' : status];
  });
  return { ...turn, statuses: Object.fromEntries(statuses), requests: Object.keys(pendingPermissions).sort() };
}
