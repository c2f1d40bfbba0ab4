/** One host that dies at one chosen commit, under a client that does the same things every time. */
import { setTimeout as delay } from 'node:timers/promises';
import type { SessionState, Snapshot, StateAction } from '@atrium/protocol';
import { crashFolder, HostProcess } from './crash-child.js';
import { Ledger } from './crash-ledger.js';
import type { CrashPoint } from './crash-log.js';
import { snapshotsOf } from './crash-observer.js';
import { PlainActor } from './crash-plain-actor.js';
import { answerTo } from './crash-work.js';
import { Random } from './fuzz-random.js';

const SESSION = 'ahp-session:/point';
const PATIENCE_MS = 20_000;

export interface CrashPointOutcome {
  /** Whether the host got as far as the chosen commit. */
  readonly hasDied: boolean;
  readonly violations: readonly string[];
}

export async function crashAt(point: CrashPoint): Promise<CrashPointOutcome> {
  const { dataDir, remove } = crashFolder();
  const doomed = new HostProcess({ dataDir, crashAt: point });
  const actor = new PlainActor('diligent', ['0.3.0']);
  try {
    const serving = await doomed.serving();
    if (serving) actor.enter(serving.port);
    const work = doTheUsual(actor);
    work.catch(() => {});
    await Promise.race([work, doomed.ended()]);
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
    for (const envelope of actor.received) ledger.confirm(actor.clientId, envelope);
    await until('the wire is cut', () => !actor.isOpen);
    actor.enter(port);
    await work;
    await until('it is back', () => actor.isOpen);
    await actor.probe();
    await audit(ledger, host, port);
    for (const envelope of actor.received) ledger.confirm(actor.clientId, envelope);
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
  const snapshot = await snapshotOf(port);
  if (snapshot) ledger.compare(snapshot);
}

const TURNS = ['tool', 'ask', 'fail', 'tool', 'ask', 'think', 'long'] as const;

/** Turns with a permission, a question, a cancellation; a title, a queued message, a model that has to wait. */
async function doTheUsual(actor: PlainActor): Promise<void> {
  actor.watch(SESSION);
  const state = () => actor.sessions.find(([uri]) => uri === SESSION)?.[1];
  await until('the session is ready', () => state()?.lifecycle === 'ready');
  actor.dispatch(SESSION, { type: 'session/titleChanged', title: 'The usual' });
  for (const [index, text] of TURNS.entries()) {
    const turnId = `turn-${index}`;
    actor.dispatch(SESSION, { type: 'session/turnStarted', turnId, userMessage: { text } });
    if (index === 0) for (const action of MEANWHILE) actor.dispatch(SESSION, action);
    await helpUntil(actor, state, (now) => now.turns.some(({ id }) => id === turnId) && !now.activeTurn);
  }
  await until('everything is decided', () => actor.undecided === 0);
  const text = 'quick';
  const hasWaiting = () => state()?.queuedMessages !== undefined;
  if (hasWaiting())
    actor.dispatch(SESSION, { type: 'session/turnStarted', turnId: 'turn-last', userMessage: { text } });
  await helpUntil(actor, state, (now) => !now.activeTurn && !now.queuedMessages && actor.undecided === 0);
}

const MEANWHILE: readonly StateAction[] = [
  { type: 'session/pendingMessageSet', kind: 'queued', id: 'queued-1', userMessage: { text: 'quick' } },
  { type: 'session/modelChanged', model: { id: 'large' } },
];

/** Answers what waits for an answer, once, and cancels what takes too long. */
async function helpUntil(
  actor: PlainActor,
  state: () => SessionState | undefined,
  isDone: (state: SessionState) => boolean,
): Promise<void> {
  const random = new Random(1);
  const done = new Set<string>();
  await until('the turn is over', () => {
    const now = state();
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

async function until(what: string, test: () => boolean): Promise<void> {
  const deadline = performance.now() + PATIENCE_MS;
  while (!test()) {
    if (performance.now() > deadline) throw new Error(`not before time ran out: ${what}`);
    await delay(1);
  }
}

async function snapshotOf(port: number): Promise<Snapshot | undefined> {
  return (await snapshotsOf(port, [SESSION]))[0];
}
