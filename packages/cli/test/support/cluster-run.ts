/**
 * Three hosts of a cluster that are killed, paused, drained and cut off from their engine, under six clients of different
 * versions that move between them and go on working, and under sessions whose agents run on all of them. In the end everything that
 * was ever said is held against the log.
 */
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Engine, engineUrl, openPostgresLog } from '@atrium/host/cluster';
import { defaultChatUri } from '@atrium/protocol/ahp-1';
import { activePort, readiness, startBalancer } from '../../../../scripts/balancer.mjs';
import type { Actor } from '../../../host/test/support/crash-actor.js';
import { Ledger, STREAMED } from '../../../host/test/support/crash-ledger.js';
import { LibraryActor } from '../../../host/test/support/crash-library-actor.js';
import { channelsOf, snapshotsOf } from '../../../host/test/support/crash-observer.js';
import { PlainActor } from '../../../host/test/support/crash-plain-actor.js';
import { CRASH_SCRIPT } from '../../../host/test/support/crash-script.js';
import { answerTo, workOnce } from '../../../host/test/support/crash-work.js';
import type { Random } from '../../../host/test/support/fuzz-random.js';
import { type ClusterHost, newCluster, spawnClusterHost, type TestCluster, TOKEN } from './cluster.js';
import type { ProcessRun } from './run-cli.js';
import { type WorkFigures, WorkingSessions, withAgent } from './working-agents.js';

const IDS = ['a', 'b', 'c'] as const;
/** Sessions whose agents are programs. */
const WORKING_SESSIONS = 4;
const SESSIONS = ['ahp-session:/cluster-1', 'ahp-session:/cluster-2'];
const VERSIONS = ['1.0.0', '0.9.0', '0.5.0', '0.3.0', '0.2.0'] as const;
/** A client does something about this often, and loses its connection about that often. */
const WORK_MS = { least: 20, most: 120 };
const MOVE_MS = { least: 400, most: 4_000 };
const RETRY_MS = 100;
/** How long everybody works before the next harm. */
const CALM_MS = { least: 100, most: 1_200 };
/** A limit for what hangs, on a machine that does much else. */
const PATIENCE_MS = 120_000;
const HOLD_UP_MS = 3_000;

export const HARMS = [
  'kill active',
  'kill stand-by',
  'drain active',
  'drain stand-by',
  'pause active',
  'pause stand-by',
  'restart engine',
] as const;
export type Harm = (typeof HARMS)[number];

/** An engine that can be restarted. */
export interface RunEngine {
  readonly url: string;
  end(how: 'crash' | 'fast'): Promise<void>;
  start(): Promise<void>;
}

export interface ClusterFigures extends WorkFigures {
  readonly harms: number;
  /** Hosts that were paused, declared dead and woken, and stored nothing. */
  readonly pauses: number;
  readonly entries: number;
  readonly turns: number;
  readonly accepted: number;
  readonly rejected: number;
  readonly interrupted: number;
  /** How often a client went to a host to come back, and how many mirrors were compared with fresh snapshots. */
  readonly returns: number;
  readonly comparisons: number;
  /** Calls of a tool that leaves a line behind. */
  readonly toolRuns: number;
}

type Mover = Actor & { readonly isAway: boolean; cut(): void };

/** Each message of its own leaves a line behind, so that a call which runs twice is seen. */
function script(folder: string): object {
  const note = `echo '\${text}' >> '${path.join(folder, 'ran.txt')}'`;
  return {
    ...CRASH_SCRIPT,
    prompts: { ...CRASH_SCRIPT.prompts, work: [{ text: 'Nobody is here to help.' }] },
    default: [{ callTool: { name: 'shell', input: { command: note } } }, { text: 'Noted.' }],
  };
}

export class ClusterRun {
  readonly #random: Random;
  readonly #engine: RunEngine | undefined;
  readonly #ledger = new Ledger();
  readonly #library = new LibraryActor('library', TOKEN);
  readonly #first = new PlainActor('plain-1.0.0', ['1.0.0'], TOKEN);
  readonly #actors: readonly Mover[] = [
    ...[this.#library, this.#first],
    ...VERSIONS.slice(1).map((version) => new PlainActor(`plain-${version}`, [version], TOKEN)),
  ];
  readonly #hosts = new Map<string, ClusterHost<ProcessRun>>();
  /** Hosts that are paused: nobody is sent there. */
  readonly #paused = new Set<string>();
  readonly #cancelled = new Set<string>();
  #cluster: TestCluster | undefined;
  #working: WorkingSessions | undefined;
  #balancer: Awaited<ReturnType<typeof startBalancer>> | undefined;
  #log: Awaited<ReturnType<typeof openPostgresLog>> | undefined;
  #isWorking = true;
  #isMoving = true;
  #isOver = false;
  #observer: Engine | undefined;
  #harms = 0;
  #pauses = 0;
  #returns = 0;

  /** Without an engine of its own it takes that of the tests, which is never restarted. */
  constructor(random: Random, engine?: RunEngine) {
    this.#random = random;
    this.#engine = engine;
  }

  async run(harms: readonly Harm[]): Promise<ClusterFigures> {
    const loops: Promise<void>[] = [];
    try {
      await this.#begin(loops);
      for (const harm of harms) {
        await delay(this.#random.between(CALM_MS.least, CALM_MS.most));
        await this.#do(harm);
        this.#harms += 1;
        await this.#takeEntries();
        this.#stopIfWrong(harm);
      }
      return await this.#finish();
    } finally {
      this.#isOver = true;
      for (const id of this.#paused) this.#hosts.get(id)?.run.signal('SIGCONT');
      for (const actor of this.#actors) actor.close();
      this.#working?.close();
      await Promise.all(loops);
      this.#balancer?.close();
      await Promise.all([this.#log?.close(), this.#observer?.close()]);
      await Promise.all([...this.#hosts.values()].map(({ run }) => this.#kill(run)));
    }
  }

  async #begin(loops: Promise<void>[]): Promise<void> {
    this.#cluster = await withAgent(await newCluster({ script, ...(this.#engine && { engine: this.#engine.url }) }));
    await Promise.all(IDS.map((id) => this.#start(id)));
    await this.#active();
    const isServing = async ({ port }: ClusterHost) => (await readiness(port)).isReady;
    await this.#until('every host serves clients', async () => {
      return (await Promise.all([...this.#hosts.values()].map(isServing))).every((yes) => yes);
    });
    const url = engineUrl(this.#cluster.env.ATRIUM_CLUSTER_URL ?? '');
    this.#observer = new Engine(url, 'observer');
    this.#log = await openPostgresLog({ url, owner: { host: 'observer', term: 0 } });
    this.#isMoving = false;
    loops.push(...this.#actors.map((actor) => this.#come(actor)));
    // Its first attempt is its only one.
    await this.#until('the library is in', async () => {
      const connected = this.#library.connect();
      return connected.then(
        () => true,
        () => false,
      );
    });
    await this.#until('everybody is in', () => this.#actors.every(({ isOpen }) => isOpen));
    for (const actor of this.#actors) for (const uri of SESSIONS) actor.watch(uri);
    const isThere = ({ sessions }: Actor) => sessions.filter(([, { isReady }]) => isReady).length === SESSIONS.length;
    await this.#until('the sessions are there', () => this.#actors.every(isThere));
    const ports = () => [...this.#hosts].flatMap(([id, { port }]) => (this.#paused.has(id) ? [] : port));
    this.#balancer = await startBalancer(ports);
    this.#working = new WorkingSessions(this.#cluster, this.#ledger.violations);
    await this.#working.open(this.#balancer.port, WORKING_SESSIONS);
    await this.#takeEntries();
    for (const snapshot of await this.#snapshots()) this.#ledger.compare(snapshot);
    this.#working.begin();
    this.#isMoving = true;
    loops.push(...this.#actors.map((actor) => this.#work(actor)));
  }

  /** Comes back at some host whenever it has no connection, and loses it now and then. */
  async #come(actor: Mover): Promise<void> {
    let cutAt = 0;
    for (const random = this.#random.fork(); !this.#isOver; await delay(RETRY_MS)) {
      const now = performance.now();
      if (actor.isOpen && this.#isMoving && now > cutAt) actor.cut();
      if (actor.isOpen || !actor.isAway) continue;
      cutAt = now + random.between(MOVE_MS.least, MOVE_MS.most);
      const host = random.pick([...this.#hosts].filter(([id]) => !this.#paused.has(id)));
      if (!host) continue;
      this.#returns += 1;
      actor.enter(host[1].port);
    }
  }

  async #work(actor: Mover): Promise<void> {
    for (const random = this.#random.fork(); !this.#isOver && this.#isWorking; ) {
      await delay(random.between(WORK_MS.least, WORK_MS.most));
      if (actor.isOpen || random.chance(0.1)) workOnce(actor, random);
    }
  }

  async #do(harm: Harm): Promise<void> {
    const active = await this.#active();
    const others = IDS.filter((id) => id !== active);
    if (harm === 'kill active') return this.#replace(active, 'SIGKILL');
    if (harm === 'kill stand-by') return this.#replace(this.#random.pick(others) ?? 'b', 'SIGKILL');
    if (harm === 'drain active') return this.#replace(active, 'SIGTERM');
    if (harm === 'drain stand-by') return this.#replace(this.#random.pick(others) ?? 'b', 'SIGTERM');
    if (harm === 'pause active') return this.#pause(active);
    if (harm === 'pause stand-by') return this.#pause(this.#random.pick(others) ?? 'b');
    await this.#engine?.end(this.#random.chance(0.5) ? 'crash' : 'fast');
    await delay(this.#random.below(1_500));
    await this.#engine?.start();
  }

  async #replace(id: string, signal: 'SIGKILL' | 'SIGTERM'): Promise<void> {
    const host = this.#hosts.get(id);
    host?.run.signal(signal);
    await host?.run.ended();
    this.#hosts.delete(id);
    await this.#active();
    await this.#start(id);
  }

  /** Beyond its time: another host takes over, and this one is woken beside it. */
  async #pause(id: string): Promise<void> {
    const { run } = this.#hosts.get(id) ?? {};
    this.#paused.add(id);
    run?.signal('SIGSTOP');
    await this.#active();
    await this.#until('the paused host is declared dead', () => this.#isDead(id));
    const [before] = await this.#commitsOf(id);
    await delay(this.#random.below(500));
    run?.signal('SIGCONT');
    this.#paused.delete(id);
    await this.#until('the woken host has joined anew', async () => {
      const [now] = await this.#commitsOf(id);
      return now !== undefined && now.term > (before?.term ?? 0);
    });
    const after = (await this.#commitsOf(id)).find(({ term }) => term === before?.term);
    if ((after?.newest ?? 0) > (before?.newest ?? 0))
      this.#ledger.violations.push(`${id} stored commits after it was declared dead`);
    this.#pauses += 1;
  }

  async #isDead(id: string): Promise<boolean> {
    const rows = await this.#observer?.run<{ alive: boolean }>('SELECT alive FROM hosts WHERE id = $1', [id]);
    return rows?.[0]?.alive === false;
  }

  /** The terms of a host, the newest first, and the newest commit of each. */
  async #commitsOf(id: string): Promise<{ term: number; newest: number | null }[]> {
    const engine = this.#observer;
    if (!engine) return [];
    return engine.run(
      `SELECT t.term, (SELECT max(n) FROM commits c WHERE c.host = $1 AND c.term = t.term) AS newest
       FROM (SELECT term FROM hosts WHERE id = $1 UNION SELECT term FROM commits WHERE host = $1) t ORDER BY t.term DESC`,
      [id],
    );
  }

  async #start(id: string): Promise<void> {
    if (!this.#cluster) throw new Error('there is no cluster');
    this.#hosts.set(id, await spawnClusterHost(this.#cluster, id, ['--work', '--drain', '1']));
  }

  async #kill(run: ProcessRun): Promise<void> {
    run.signal('SIGKILL');
    await run.ended();
  }

  /** Waits until a host is active, and says which. */
  async #active(): Promise<string> {
    let active: string | undefined;
    await this.#until('a host is active', async () => {
      const hosts = [...this.#hosts].filter(([id]) => !this.#paused.has(id));
      const port = await activePort(hosts.map(([, host]) => host.port));
      active = hosts.find(([, host]) => host.port === port)?.[0];
      return active !== undefined;
    });
    return active ?? '';
  }

  async #takeEntries(): Promise<void> {
    await this.#until('the engine answers', async () => {
      const entries = await this.#log?.read({ after: this.#ledger.head }).catch(() => undefined);
      if (entries) this.#ledger.take(entries, { isAtWork: true });
      return entries !== undefined;
    });
  }

  async #snapshots() {
    const port = this.#hosts.get(await this.#active())?.port ?? 0;
    const sessions = [...SESSIONS, ...(this.#working?.sessions ?? [])];
    return snapshotsOf(port, channelsOf(sessions), ['1.0.0'], TOKEN);
  }

  /** Lets everything come to its end, and counts. */
  async #finish(): Promise<ClusterFigures> {
    this.#isWorking = false;
    this.#isMoving = false;
    this.#working?.stop();
    const isBack = () => this.#actors.every(({ isOpen }) => isOpen);
    await this.#until('everybody is back', isBack);
    const patientUntil = performance.now() + HOLD_UP_MS;
    await this.#until('everything is decided', () => {
      const isDecided = this.#actors.every(({ undecided }) => undecided === 0);
      if (!isDecided && performance.now() > patientUntil) this.#endHoldUps();
      return isDecided;
    });
    await this.#until('everything is at rest', () => this.#driveToRest());
    await this.#until('everybody is back', isBack);
    await Promise.race([Promise.all(this.#actors.map((actor) => actor.probe())), this.#never('mirrors are compared')]);
    await this.#takeEntries();
    this.#ledger.take([]);
    for (const snapshot of await this.#snapshots()) this.#ledger.compare(snapshot);
    const settled = this.#actors.map((actor) => this.#settle(actor));
    const { turns } = this.#ledger.checkHistory();
    const toolRuns = await this.#checkToolRuns();
    const worked = await this.#finishWork();
    this.#stopIfWrong('the end');
    return {
      ...{
        harms: this.#harms,
        pauses: this.#pauses,
        entries: this.#ledger.head,
        turns,
        toolRuns,
        returns: this.#returns,
      },
      ...worked,
      accepted: settled.reduce((sum, { accepted }) => sum + accepted, 0),
      rejected: settled.reduce((sum, { rejected }) => sum + rejected, 0),
      interrupted: this.#ledger.interrupted,
      comparisons: this.#actors.reduce((sum, { probes }) => sum + probes, 0),
    };
  }

  /** What it was shown is stored, and what it asked for is stored once. Pieces of text may have been joined on their way. */
  #settle(actor: Mover): { accepted: number; rejected: number } {
    for (const envelope of actor.received)
      if (!STREAMED.has(envelope.action.type)) this.#ledger.confirm(actor, envelope);
    return this.#ledger.settle(actor);
  }

  async #finishWork(): Promise<WorkFigures> {
    const finished = this.#working?.finish() ?? { noted: 0, cutOff: 0, places: 0 };
    return Promise.race([finished, this.#never('the turns of programs are over')]);
  }

  async #checkToolRuns(): Promise<number> {
    const text = await readFile(path.join(this.#cluster?.folder ?? '', 'ran.txt'), 'utf8').catch(() => '');
    const lines = text.split('\n').filter((line) => line !== '');
    const twice = lines.filter((line, at) => lines.indexOf(line) !== at);
    for (const line of twice) this.#ledger.violations.push(`the call of "${line}" ran twice`);
    return lines.length;
  }

  /** A change of the model waits for the end of a turn, and the turn for an answer that nobody gives any more. */
  #endHoldUps(): void {
    for (const [uri, { turn }] of this.#first.sessions) {
      if (turn === undefined || this.#cancelled.has(turn)) continue;
      this.#cancelled.add(turn);
      this.#first.ask(uri, { wants: 'cancel', turnId: turn });
    }
  }

  #driveToRest(): boolean {
    const actor = this.#first;
    let isAtRest = this.#actors.every(({ undecided }) => undecided === 0);
    for (const [uri, seen] of actor.sessions) {
      const { turn, queued } = seen;
      if (turn === undefined && queued.length === 0) continue;
      isAtRest = false;
      const start = { wants: 'start', turnId: `turn-rest-${actor.dispatched.length}`, text: 'quick' } as const;
      const intent = turn === undefined ? start : answerTo(seen, this.#random);
      if (intent && actor.undecided === 0) actor.ask(uri, intent);
    }
    return isAtRest;
  }

  #stopIfWrong(when: string): void {
    const wrong = [...this.#ledger.violations, ...this.#actors.flatMap(({ violations }) => violations)];
    if (wrong.length === 0) return;
    const shown = wrong.slice(0, 10).join('\n');
    throw new Error(`${this.#harms} harms, ${when}: ${wrong.length} things are wrong:\n${shown}`);
  }

  async #until(what: string, test: () => boolean | Promise<boolean>): Promise<void> {
    for (const deadline = performance.now() + PATIENCE_MS; !(await test()); await delay(20))
      if (performance.now() > deadline) throw this.#inVain(what);
  }

  async #never(what: string): Promise<never> {
    await delay(PATIENCE_MS, undefined, { ref: false });
    throw this.#inVain(what);
  }

  #inVain(what: string): Error {
    const facts = this.#actors.map(({ clientId, isOpen, undecided }) => `${clientId}: ${isOpen}, ${undecided}`);
    const closes = this.#actors.flatMap((actor) => (actor instanceof PlainActor ? actor.lastClose : []));
    const wrong = this.#actors.flatMap(({ violations }) => violations).slice(0, 5);
    const said = [...this.#hosts].map(([id, { run }]) => `${id}: ${run.said.stderr.slice(-500)}`);
    const sessions = this.#first.sessions.map(([uri, seen]) => `${defaultChatUri(uri)}: ${JSON.stringify(seen)}`);
    const all = [...facts, ...closes, ...wrong, ...sessions, ...said].join('\n');
    return new Error(`after ${this.#harms} harms, not before time ran out: ${what}\n${all}`);
  }
}
