/** One host that dies at one chosen commit, under a client that does the same things every time. */
import { setTimeout as delay } from 'node:timers/promises';
import type { SessionState, StateAction } from '@atrium/protocol';
import { crashFolder, HostProcess } from './crash-child.js';
import { Ledger } from './crash-ledger.js';
import type { CrashPoint } from './crash-log.js';
import { channelsOf, snapshotsOf } from './crash-observer.js';
import { PlainActor } from './crash-plain-actor.js';
import { answerTo } from './crash-work.js';
import { Random } from './fuzz-random.js';
import type { AnyEnvelope } from './fuzz-wire.js';

const SESSION = 'ahp-session:/point';
/** Without any progress: a loaded machine may need long for the whole, never for the next step. */
const PATIENCE_MS = 20_000;

export interface CrashPointOptions {
  /** The client queues its message when it sees its first turn, not together with it: often that is after the crash. */
  readonly isQueuedLate?: boolean;
}

export interface CrashPointOutcome {
  /** Whether the host got as far as the chosen commit. */
  readonly hasDied: boolean;
  readonly violations: readonly string[];
}

export async function crashAt(point: CrashPoint, options: CrashPointOptions = {}): Promise<CrashPointOutcome> {
  const { dataDir, remove } = crashFolder();
  const doomed = new HostProcess({ dataDir, crashAt: point });
  const actor = new PlainActor('diligent', ['0.3.0']);
  try {
    const serving = await doomed.serving();
    if (serving) actor.enter(serving.port);
    const work = doTheUsual(actor, options);
    work.catch(() => {});
    await Promise.race([work, doomed.ended()]);
    await goOnUntilItDies(actor, doomed, point);
    const hasDied = doomed.hasEnded;
    await doomed.kill();
    const violations = await goOn({ dataDir, actor, work });
    return { hasDied, violations };
  } finally {
    actor.close();
    await doomed.kill();
    remove();
  }
}

/** How many commits the usual work makes depends on the load: the busier the host, the more goes into one. */
async function goOnUntilItDies(actor: PlainActor, doomed: HostProcess, { commit }: CrashPoint): Promise<void> {
  for (let number = 1; number <= commit && !doomed.hasEnded; number++) {
    actor.dispatch(SESSION, { type: 'session/titleChanged', title: `Title ${number}` });
    await until(actor, 'the title is decided', () => actor.undecided === 0 || doomed.hasEnded);
  }
}

interface Interrupted {
  readonly dataDir: string;
  readonly actor: PlainActor;
  readonly work: Promise<void>;
}

/** Starts the host again, lets the client finish what it was doing, and settles the accounts. */
async function goOn({ dataDir, actor, work }: Interrupted): Promise<string[]> {
  const host = new HostProcess({ dataDir });
  try {
    const { port } = (await host.serving()) ?? { port: 0 };
    const ledger = new Ledger();
    await audit(ledger, host, port);
    for (const envelope of actor.received) ledger.confirm(actor, envelope);
    await until(actor, 'the wire is cut', () => !actor.isOpen);
    actor.enter(port);
    await work;
    await until(actor, 'it is back, and everything is decided', () => actor.isOpen && actor.undecided === 0);
    await actor.probe();
    await audit(ledger, host, port);
    for (const envelope of actor.received) ledger.confirm(actor, envelope);
    ledger.settle(actor);
    const { turns, queued } = ledger.checkHistory();
    if (turns < TURNS.length + 1 || queued !== 1) ledger.violations.push(`${turns} turns, ${queued} queued messages`);
    return [...ledger.violations, ...actor.violations];
  } finally {
    await host.kill();
  }
}

async function audit(ledger: Ledger, host: HostProcess, port: number): Promise<void> {
  ledger.take((await host.entries(ledger.head)) ?? []);
  for (const snapshot of await snapshotsOf(port, channelsOf([SESSION]))) ledger.compare(snapshot);
}

const TURNS = ['tool', 'ask', 'fail', 'tool', 'ask', 'think', 'long'] as const;

/** Turns with a permission, a question, a cancellation; a title, a queued message, a model that has to wait. */
async function doTheUsual(actor: PlainActor, { isQueuedLate = false }: CrashPointOptions): Promise<void> {
  actor.watch(SESSION);
  await until(actor, 'the session is ready', () => stateOf(actor)?.lifecycle === 'ready');
  actor.dispatch(SESSION, { type: 'session/titleChanged', title: 'The usual' });
  // Then the start of the first turn is a commit of its own.
  if (isQueuedLate) await until(actor, 'the title is decided', () => actor.undecided === 0);
  for (const [index, text] of TURNS.entries()) {
    await runTurn(actor, `turn-${index}`, text, async () => {
      if (index > 0) return;
      if (isQueuedLate) await until(actor, 'the turn is seen', () => hasTurn(stateOf(actor), 'turn-0'));
      for (const action of MEANWHILE) actor.dispatch(SESSION, action);
    });
  }
  await until(actor, 'everything is decided', () => actor.undecided === 0);
  // A crash stops the queue; the next turn that completes moves it on.
  if (stateOf(actor)?.queuedMessages) await runTurn(actor, 'turn-last', 'quick');
  await helpUntil(actor, (now) => !now.activeTurn && !now.queuedMessages && actor.undecided === 0);
}

const MEANWHILE: readonly StateAction[] = [
  { type: 'session/pendingMessageSet', kind: 'queued', id: 'queued-1', userMessage: { text: 'quick' } },
  { type: 'session/modelChanged', model: { id: 'large' } },
];

/**
 * Starts a turn and helps it to its end. The queued message becomes a turn as soon as the session is idle, and may be
 * faster than this one: the host then rejects it, and the client asks again under a new id.
 */
async function runTurn(actor: PlainActor, id: string, text: string, meanwhile = async () => {}): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    const turnId = attempt === 1 ? id : `${id}-${attempt}`;
    actor.dispatch(SESSION, { type: 'session/turnStarted', turnId, userMessage: { text } });
    if (attempt === 1) await meanwhile();
    const isRejected = () => actor.received.some((envelope) => rejects(envelope, turnId));
    await helpUntil(actor, (now) => !now.activeTurn && (hasTurn(now, turnId) || isRejected()));
    if (!isRejected()) return;
  }
}

function rejects({ action, rejectionReason }: AnyEnvelope, turnId: string): boolean {
  const isOfTurn = action.type === 'session/turnStarted' && action.turnId === turnId;
  return isOfTurn && rejectionReason?.endsWith('is running: queue the message, or wait') === true;
}

function hasTurn(state: SessionState | undefined, turnId: string): boolean {
  return state?.activeTurn?.id === turnId || state?.turns.some(({ id }) => id === turnId) === true;
}

function stateOf(actor: PlainActor): SessionState | undefined {
  return actor.sessions.find(([uri]) => uri === SESSION)?.[1];
}

/** Answers what waits for an answer, once, and cancels what takes too long. */
async function helpUntil(actor: PlainActor, isDone: (state: SessionState) => boolean): Promise<void> {
  const random = new Random(1);
  const done = new Set<string>();
  await until(actor, 'the turn is over', () => {
    const now = stateOf(actor);
    if (!now) return false;
    const turnId = now.activeTurn?.id;
    const isLong = now.activeTurn?.userMessage.text === 'long' && now.activeTurn.responseParts.length > 0;
    const cancel: StateAction = { type: 'session/turnCancelled', turnId: turnId ?? '' };
    const action = isLong ? cancel : answerTo(now, random);
    const key = `${action?.type} ${turnId}`;
    if (action && !done.has(key)) actor.dispatch(SESSION, action);
    if (action) done.add(key);
    return isDone(now);
  });
}

async function until(actor: PlainActor, what: string, test: () => boolean): Promise<void> {
  let deadline = performance.now() + PATIENCE_MS;
  for (let seen = actor.received.length; !test(); await delay(1)) {
    if (performance.now() > deadline) throw new Error(`nothing happened for too long: ${what}\n${situation(actor)}`);
    if (actor.received.length === seen) continue;
    seen = actor.received.length;
    deadline = performance.now() + PATIENCE_MS;
  }
}

/** What a reader needs to know about a wait in vain. */
function situation(actor: PlainActor): string {
  const { activeTurn, turns = [], queuedMessages = [] } = stateOf(actor) ?? {};
  const last = actor.received.slice(-10).map(({ serverSeq, action, rejectionReason = 'accepted' }) => {
    return `${serverSeq} ${action.type}: ${rejectionReason}`;
  });
  return [
    `connected: ${actor.isOpen}; undecided: ${actor.undecided}; queued: ${queuedMessages.length}`,
    `running: ${activeTurn?.id}; over: ${turns.map(({ id }) => id).join(', ')}`,
    `asked for last: ${JSON.stringify(actor.dispatched.at(-1)?.action)}`,
    ...last,
  ].join('\n');
}
