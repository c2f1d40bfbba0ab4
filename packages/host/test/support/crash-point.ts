/** One host that dies at one chosen commit, under a client that does the same things every time. */
import { setTimeout as delay } from 'node:timers/promises';
import { crashFolder, HostProcess } from './crash-child.js';
import { Ledger } from './crash-ledger.js';
import type { CrashPoint } from './crash-log.js';
import { channelsOf, snapshotsOf } from './crash-observer.js';
import { PlainActor } from './crash-plain-actor.js';
import { answerTo, cancel } from './crash-work.js';
import { Random } from './fuzz-random.js';
import type { Intent, Seen } from './fuzz-speech.js';
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
    actor.ask(SESSION, { wants: 'title', title: `Title ${number}` });
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
const LONG_TURN = `turn-${TURNS.indexOf('long')}`;

/** Turns with a permission, a question, a cancellation; a title, a queued message, a model that has to wait. */
async function doTheUsual(actor: PlainActor, { isQueuedLate = false }: CrashPointOptions): Promise<void> {
  actor.watch(SESSION);
  await until(actor, 'the session is ready', () => seenBy(actor)?.isReady === true);
  actor.ask(SESSION, { wants: 'title', title: 'The usual' });
  // Then the start of the first turn is a commit of its own.
  if (isQueuedLate) await until(actor, 'the title is decided', () => actor.undecided === 0);
  for (const [index, text] of TURNS.entries()) {
    await runTurn(actor, `turn-${index}`, text, async () => {
      if (index > 0) return;
      if (isQueuedLate) await until(actor, 'the turn is seen', () => hasTurn(seenBy(actor), 'turn-0'));
      for (const intent of MEANWHILE) actor.ask(SESSION, intent);
    });
  }
  await until(actor, 'everything is decided', () => actor.undecided === 0);
  // A crash stops the queue; the next turn that completes moves it on.
  if (seenBy(actor)?.queued.length) await runTurn(actor, 'turn-last', 'quick');
  await helpUntil(actor, (now) => !now.turn && now.queued.length === 0 && actor.undecided === 0);
}

const MEANWHILE: readonly Intent[] = [
  { wants: 'message', kind: 'queued', id: 'queued-1', text: 'quick' },
  { wants: 'model', id: 'large' },
];

/**
 * Starts a turn and helps it to its end. The queued message becomes a turn as soon as the session is idle, and may be
 * faster than this one: the host then rejects it, and the client asks again under a new id.
 */
async function runTurn(actor: PlainActor, id: string, text: string, meanwhile = async () => {}): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    const turnId = attempt === 1 ? id : `${id}-${attempt}`;
    actor.ask(SESSION, { wants: 'start', turnId, text });
    if (attempt === 1) await meanwhile();
    const isRejected = () => actor.received.some((envelope) => rejects(envelope, turnId));
    await helpUntil(actor, (now) => !now.turn && (hasTurn(now, turnId) || isRejected()));
    if (!isRejected()) return;
  }
}

function rejects({ action, rejectionReason }: AnyEnvelope, turnId: string): boolean {
  const isOfTurn = action.type === 'session/turnStarted' && action.turnId === turnId;
  return isOfTurn && rejectionReason?.endsWith('is running: queue the message, or wait') === true;
}

function hasTurn(seen: Seen | undefined, turnId: string): boolean {
  return seen?.turn === turnId || seen?.turns.includes(turnId) === true;
}

function seenBy(actor: PlainActor): Seen | undefined {
  return actor.sessions.find(([uri]) => uri === SESSION)?.[1];
}

/** Answers what waits for an answer, once, and cancels what takes too long. */
async function helpUntil(actor: PlainActor, isDone: (seen: Seen) => boolean): Promise<void> {
  const random = new Random(1);
  const done = new Set<string>();
  await until(actor, 'the turn is over', () => {
    const now = seenBy(actor);
    if (!now) return false;
    const isLong = now.turn?.startsWith(LONG_TURN) && now.parts > 0;
    const intent = isLong ? cancel(now) : answerTo(now, random);
    const key = `${intent?.wants} ${now.turn}`;
    if (intent && !done.has(key)) actor.ask(SESSION, intent);
    if (intent) done.add(key);
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
  const { turn, turns = [], queued = [] } = seenBy(actor) ?? {};
  const last = actor.received.slice(-10).map(({ serverSeq, action, rejectionReason = 'accepted' }) => {
    return `${serverSeq} ${action.type}: ${rejectionReason}`;
  });
  return [
    `connected: ${actor.isOpen}; undecided: ${actor.undecided}; queued: ${queued.length}`,
    `running: ${turn}; over: ${turns.join(', ')}`,
    `asked for last: ${JSON.stringify(actor.dispatched.at(-1)?.action)}`,
    ...last,
  ].join('\n');
}
