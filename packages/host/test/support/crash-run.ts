/** One host on one folder, killed and started again and again under clients that go on working. */
import { setTimeout as delay } from 'node:timers/promises';
import { channelKind, defaultChatUri, type Snapshot } from '@atrium/protocol/ahp-1';
import type { Actor } from './crash-actor.js';
import { ChatActor } from './crash-chat-actor.js';
import { furtherChatsIn, listProblems, workerProblems } from './crash-chats.js';
import { HostProcess } from './crash-child.js';
import { Ledger } from './crash-ledger.js';
import { LibraryActor } from './crash-library-actor.js';
import { channelsOf, snapshotsOf } from './crash-observer.js';
import { PlainActor } from './crash-plain-actor.js';
import { SeenCalls } from './crash-seen-calls.js';
import { TerminalWatcher } from './crash-terminal-watcher.js';
import { answerTo, workOnce } from './crash-work.js';
import { sessionOf } from './fuzz-chats.js';
import { Random } from './fuzz-random.js';

/** Sessions that are worked on at a time; one that has this many turns is left for a new one. */
const SESSIONS = 3;
const TURNS_PER_SESSION = 120;
/** A client does something about this often. */
const PAUSE_MS = { least: 1, most: 8 };
/** How much of that goes on while there is no host; it waits for the next one. */
const OFFLINE_WORK = 0.1;
/** From when everybody is back to the kill. */
const LIFE_MS = { least: 5, most: 150 };
/** Kills that hit a host before it serves, and kills that do not wait until everybody is back. */
const EARLY_KILLS = 0.1;
const RUDE_KILLS = 0.25;
const START_MS = 400;
/** A limit for what hangs: a host that shares its machine with much else may get a core once in many seconds. */
const PATIENCE_MS = 120_000;
/** A long run says how far it is. */
const TOLD_EVERY = 50;
/** A turn that has not ended by then waits for an answer. */
const HOLD_UP_MS = 3_000;

export interface CrashFigures {
  readonly kills: number;
  readonly entries: number;
  readonly turns: number;
  readonly queued: number;
  readonly interrupted: number;
  readonly unfinished: number;
  readonly comparisons: number;
  readonly accepted: number;
  readonly rejected: number;
  /** Calls that a client saw running, found with everything that was seen of them; those that a kill interrupted. */
  readonly calls: number;
  readonly interruptedCalls: number;
  /** Chats beside the default ones that were asked for; workers that are there; turns of either that a kill cut off. */
  readonly chats: number;
  readonly workers: number;
  readonly interruptedInChats: number;
  /** How often a host that went on sent a client away for a snapshot. */
  readonly sentAway: number;
}

export class CrashRun {
  readonly #random: Random;
  readonly #ledger = new Ledger();
  readonly #library = new LibraryActor('library');
  readonly #chats = new ChatActor('chats');
  readonly #plain = new PlainActor('plain', ['0.2.0']);
  readonly #actors: readonly Actor[] = [this.#library, this.#plain, this.#chats];
  readonly #confirmed = new Map<Actor, number>();
  readonly #calls = new SeenCalls();
  readonly #watcher = new TerminalWatcher(this.#calls);
  /** Sessions that are worked on, and those that were. */
  #current: string[] = [];
  readonly #all: string[] = [];
  #host: HostProcess | undefined;
  #working = false;
  readonly #cancelled = new Set<string>();
  #kills = 0;
  /** Commits that a kill cut off in the middle. */
  #unfinished = 0;

  constructor(
    private readonly dataDir: string,
    seed: number,
  ) {
    this.#random = new Random(seed);
  }

  async run(kills: number): Promise<CrashFigures> {
    try {
      await this.#begin();
      const workers = this.#actors.map((actor) => this.#work(actor));
      while (this.#kills < kills) {
        await this.#round();
        if (this.#kills % TOLD_EVERY === 0) console.info(`crash: ${this.#kills} of ${kills} kills`);
      }
      this.#working = false;
      await Promise.all(workers);
      await this.#finish();
      return this.#figures();
    } finally {
      this.#working = false;
      for (const actor of this.#actors) actor.close();
      this.#watcher.left();
      await this.#host?.kill();
    }
  }

  /** The first start, without haste: everybody gets in. */
  async #begin(): Promise<void> {
    const port = await this.#start();
    for (const actor of this.#actors) actor.enter(port);
    await this.#library.connect();
    await this.#until('everybody is in', () => this.#actors.every(({ isOpen }) => isOpen));
    this.#renewSessions();
    await this.#until('the sessions are there', () =>
      this.#actors.every(({ sessions }) => sessions.length === SESSIONS),
    );
    await this.#kill();
    this.#working = true;
  }

  async #round(): Promise<void> {
    const random = this.#random;
    if (random.chance(EARLY_KILLS)) {
      this.#launch();
      await delay(random.below(START_MS));
      return this.#kill();
    }
    const port = await this.#start();
    for (const actor of this.#actors) actor.enter(port);
    this.#watcher.enter(port);
    if (!random.chance(RUDE_KILLS)) await this.#compareMirrors();
    await delay(random.between(LIFE_MS.least, LIFE_MS.most));
    await this.#kill();
    this.#renewSessions();
  }

  /** Starts the host and holds it to everything that is known, before anybody else talks to it. */
  async #start(observed: readonly string[] = this.#current): Promise<number> {
    const host = this.#launch();
    const serving = await host.serving();
    const entries = await host.entries(this.#ledger.head);
    if (!serving || !entries) throw new Error(`the host does not start after kill ${this.#kills}: ${host.complaints}`);
    this.#checkRepairs(serving.repairs);
    this.#ledger.take(entries);
    const snapshots = await snapshotsOf(serving.port, channelsOf(observed));
    for (const snapshot of snapshots) this.#ledger.compare(snapshot);
    await this.#checkChats(serving.port, snapshots);
    for (const actor of this.#actors) this.#confirm(actor);
    this.#ledger.violations.push(...this.#calls.check(this.#ledger.chats));
    this.#stopIfWrong();
    return serving.port;
  }

  /** Chats beside the default ones: those that are listed, and names that are not used yet, or no more. */
  async #checkChats(port: number, sessions: readonly Snapshot[]): Promise<void> {
    const listed = furtherChatsIn(sessions);
    const uris = new Set(sessions.map(({ resource }) => resource));
    const names = [...this.#chats.names].filter((chat) => uris.has(sessionOf(chat)));
    const asked = new Set([...listed.map(({ resource }) => resource), ...names]);
    const found = await snapshotsOf(port, [...asked]);
    for (const snapshot of found) this.#ledger.compare(snapshot);
    this.#ledger.violations.push(...listProblems(listed, found), ...workerProblems(this.#ledger.chats));
  }

  #launch(): HostProcess {
    this.#host = new HostProcess({ dataDir: this.dataDir });
    return this.#host;
  }

  /** A kill may cut off a commit that no client was told of; it must do no other harm. */
  #checkRepairs(repairs: readonly string[]): void {
    for (const repair of repairs) {
      if (repair.includes('never acknowledged')) this.#unfinished += 1;
      else this.#ledger.violations.push(`a kill did harm: ${repair}`);
    }
  }

  /** Everything that a client was shown before the kill must be in the log after it. */
  #confirm(actor: Actor): void {
    const known = this.#confirmed.get(actor) ?? 0;
    for (const envelope of actor.received.slice(known)) {
      this.#ledger.confirm(actor, envelope);
      this.#calls.envelope(envelope);
    }
    this.#confirmed.set(actor, actor.received.length);
  }

  async #compareMirrors(): Promise<void> {
    await this.#until('everybody is back', () => this.#actors.every(({ isOpen }) => isOpen));
    await Promise.race([Promise.all(this.#actors.map((actor) => actor.probe())), this.#never('mirrors are compared')]);
  }

  async #kill(): Promise<void> {
    await this.#host?.kill();
    this.#watcher.left();
    this.#kills += 1;
    const error = /^error .*/m.exec(this.#host?.complaints ?? '')?.[0];
    if (error) this.#ledger.violations.push(`the host says: ${error}`);
    await this.#until('everybody has noticed', () => this.#actors.every(({ isOpen }) => !isOpen));
  }

  #renewSessions(): void {
    const full = this.#current.filter(
      (uri) => (this.#ledger.chats.get(defaultChatUri(uri))?.turns.length ?? 0) >= TURNS_PER_SESSION,
    );
    for (const actor of this.#actors) for (const uri of full) actor.leave(uri);
    this.#current = this.#current.filter((uri) => !full.includes(uri));
    while (this.#current.length < SESSIONS) {
      const uri = `ahp-session:/crash-${this.#all.length + 1}`;
      this.#all.push(uri);
      this.#current.push(uri);
      for (const actor of this.#actors) actor.watch(uri);
    }
  }

  async #work(actor: Actor): Promise<void> {
    const random = new Random(this.#random.below(2 ** 32));
    while (this.#working) {
      await delay(random.between(PAUSE_MS.least, PAUSE_MS.most));
      if (!actor.isOpen && !random.chance(OFFLINE_WORK)) continue;
      if (actor === this.#chats) this.#chats.workOnce(random);
      else workOnce(actor, random);
    }
  }

  /** Lets everything come to its end, then starts once more and counts. */
  async #finish(): Promise<void> {
    const port = await this.#start();
    for (const actor of this.#actors) actor.enter(port);
    await this.#until('everybody is back', () => this.#actors.every(({ isOpen }) => isOpen));
    const patientUntil = performance.now() + HOLD_UP_MS;
    await this.#until('everything is decided', () => {
      this.#chats.catchUp();
      const isDecided = this.#actors.every(({ undecided }) => undecided === 0);
      if (!isDecided && performance.now() > patientUntil) this.#endHoldUps();
      return isDecided;
    });
    await this.#until('everything is at rest', () => this.#driveToRest(), 20);
    await this.#compareMirrors();
    await this.#host?.kill();
    await this.#start(this.#all);
  }

  /** A change of the model waits for the end of a turn, and the turn may wait for an answer that no client gives any more. */
  #endHoldUps(): void {
    const actor = this.#chats;
    for (const [uri, { turn }] of actor.sessions) {
      if (turn === undefined || this.#cancelled.has(turn)) continue;
      this.#cancelled.add(turn);
      actor.ask(uri, { wants: 'cancel', turnId: turn });
    }
  }

  /** Answers what waits for an answer, and moves queues on that a crash has stopped. */
  #driveToRest(): boolean {
    const actor = this.#chats;
    actor.catchUp();
    let atRest = this.#actors.every(({ undecided }) => undecided === 0);
    for (const [uri, seen] of actor.sessions) {
      const { turn, queued } = seen;
      if (turn === undefined && queued.length === 0) continue;
      atRest = false;
      const start = { wants: 'start', turnId: `turn-rest-${actor.dispatched.length}`, text: 'quick' } as const;
      const intent = turn === undefined ? start : answerTo(seen, this.#random);
      if (intent && actor.undecided === 0) actor.ask(uri, intent);
    }
    return atRest;
  }

  #figures(): CrashFigures {
    const isGone = (channel = '') => channelKind(channel) === 'chat' && !this.#ledger.chats.has(channel);
    const settled = this.#actors.map((actor) =>
      this.#ledger.settle(actor, (clientSeq) => isGone(actor.dispatched[clientSeq - 1]?.channel)),
    );
    const history = this.#ledger.checkHistory();
    this.#stopIfWrong();
    return {
      kills: this.#kills,
      entries: this.#ledger.head,
      ...history,
      interrupted: this.#ledger.interrupted,
      unfinished: this.#unfinished,
      comparisons: this.#actors.reduce((sum, { probes }) => sum + probes, 0),
      accepted: settled.reduce((sum, { accepted }) => sum + accepted, 0),
      rejected: settled.reduce((sum, { rejected }) => sum + rejected, 0),
      calls: this.#calls.checked,
      interruptedCalls: this.#calls.interrupted,
      chats: this.#chats.names.size,
      workers: [...this.#ledger.chats.values()].filter(({ origin }) => origin?.kind === 'tool').length,
      interruptedInChats: this.#ledger.interruptedInChats,
      sentAway: this.#plain.sentAway.length + this.#chats.sentAway.length,
    };
  }

  #stopIfWrong(): void {
    const wrong = [...this.#ledger.violations, ...this.#actors.flatMap(({ violations }) => violations)];
    if (wrong.length === 0) return;
    const shown = wrong.slice(0, 10).join('\n');
    throw new Error(
      `seed ${this.#random.seed}, after kill ${this.#kills}: ${wrong.length} things are wrong:\n${shown}`,
    );
  }

  async #until(what: string, test: () => boolean, everyMs = 1): Promise<void> {
    const deadline = performance.now() + PATIENCE_MS;
    while (!test()) {
      if (performance.now() > deadline) throw this.#inVain(what);
      await delay(everyMs);
    }
  }

  async #never(what: string): Promise<never> {
    await delay(PATIENCE_MS, undefined, { ref: false });
    throw this.#inVain(what);
  }

  #inVain(what: string): Error {
    const open = this.#actors.map(({ clientId, isOpen, undecided }) => `${clientId}: ${isOpen}, ${undecided}`);
    const wrong = this.#actors.flatMap(({ violations }) => violations);
    for (const { clientId, lastClose } of [this.#plain, this.#chats])
      wrong.push(`the last connection of ${clientId} ended with ${lastClose}`);
    wrong.push(this.#host?.complaints ?? '');
    return new Error(
      `seed ${this.#random.seed}, after kill ${this.#kills}: not before time ran out: ${what} (${[...open, this.#chats.waiting, ...wrong].join('; ')})`,
    );
  }
}
