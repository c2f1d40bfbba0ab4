/**
 * A host's place in its cluster: it joins with a new term, raises its beat, watches the others, declares silent ones
 * dead, and takes over the work when no host is active. One host is active; the others stand by.
 */
import { LogUnavailableError } from '@atrium/core/log/log.js';
import type { HostTerm } from '@atrium/core/log/shared-log.js';
import { type Clock, systemClock } from '@atrium/core/util/clock.js';
import type { Logger } from '@atrium/core/util/logger.js';
import { ClusterError } from '../log-postgres/administer.js';
import { Engine, EngineError } from '../log-postgres/engine.js';
import type { EngineUrl } from '../log-postgres/engine-url.js';
import { REFUSED, ROOT_OWNER, SCHEMA_LEVEL } from '../log-postgres/schema.js';
import { BEAT_MS, CUT_OFF_MS } from './limits.js';
import { type ActiveLink, askLink } from './link.js';
import { Lookout, type SeenHost } from './lookout.js';

export interface MembershipOptions {
  readonly url: EngineUrl;
  readonly hostId: string;
  readonly version: string;
  readonly logger: Logger;
  /** The address where the others reach this host, as host:port. Without one they wait longer before they take over. */
  readonly link?: string | undefined;
  /** Absent: hosts do not ask each other. */
  readonly secret?: string | undefined;
  /** The highest number that this process has seen in an earlier term. */
  readonly seen?: number;
  readonly clock?: Clock;
  /** Facts for people who inspect the cluster, and for the other hosts. */
  facts?(): object;
  /** Called after each look at the other hosts. */
  looked?(): void;
}

/** Why a host has lost its place. */
export type LostReason =
  /** The others have declared it dead, or it cannot tell; it joins again. */
  | { readonly kind: 'fenced'; readonly text: string }
  /** Another process has joined under the same name. */
  | { readonly kind: 'replaced'; readonly text: string };

interface Look extends SeenHost {
  readonly alive: boolean;
  readonly active: boolean;
  /** `drain` if it was asked to leave. */
  readonly wanted: string | null;
  /** What it reports of itself, as JSON. */
  readonly facts: string;
}

/** Another living host, as of the last look. */
export interface OtherHost extends HostTerm {
  readonly link: string | null;
  readonly active: boolean;
  readonly isLeaving: boolean;
  readonly facts: Readonly<Record<string, unknown>>;
}

export class Membership {
  readonly me: HostTerm;
  /** Resolves when this host becomes the active one. */
  readonly active: Promise<void>;
  readonly lost: Promise<LostReason>;
  /** Resolves when a person asked this host to leave: `atrium cluster drain`. */
  readonly drained: Promise<void>;
  readonly #options: MembershipOptions;
  readonly #engine: Engine;
  readonly #clock: Clock;
  readonly #lookout: Lookout;
  #becomeActive: () => void = () => {};
  #lose: (reason: LostReason) => void = () => {};
  #drain: () => void = () => {};
  #cancel: () => void = () => {};
  #round: Promise<void> = Promise.resolve();
  #isActive = false;
  #isOver = false;
  #mayTakeOver = true;
  #beatAt: number;
  /** Whether the last round reached the engine. */
  #isReached = true;
  #others: readonly Look[] = [];
  #seen: number;

  constructor(options: MembershipOptions, engine: Engine, term: number) {
    this.#options = options;
    this.#engine = engine;
    this.#clock = options.clock ?? systemClock;
    this.me = { host: options.hostId, term };
    this.#seen = options.seen ?? 0;
    this.#beatAt = performance.now();
    this.#lookout = new Lookout(async (link) => (await this.#ask(link, 'engine')) === 'refused');
    this.active = new Promise((resolve) => {
      this.#becomeActive = resolve;
    });
    this.lost = new Promise((resolve) => {
      this.#lose = resolve;
    });
    this.drained = new Promise((resolve) => {
      this.#drain = resolve;
    });
  }

  /** Joins the cluster with a higher term than any earlier one of this host. */
  static async join(options: MembershipOptions): Promise<Membership> {
    const engine = new Engine(options.url, 'membership');
    try {
      const { hostId, link = null, version } = options;
      const values = [hostId, link, version, SCHEMA_LEVEL];
      const [row] = await engine.run<{ term: number }>('SELECT join_cluster($1, $2, $3, $4) AS term', values);
      if (!row) throw new ClusterError('the engine gave no term');
      const membership = new Membership(options, engine, row.term);
      await membership.lookNow();
      return membership;
    } catch (error) {
      await engine.close();
      throw error;
    }
  }

  /** The highest number seen in the engine. */
  get seen(): number {
    return this.#seen;
  }

  /** Whether the engine answers this host. */
  get isReached(): boolean {
    return this.#isReached;
  }

  /** The active host, as of the last look. */
  get activeHost(): string | undefined {
    return this.#isActive ? this.me.host : this.#others.find(({ active }) => active)?.id;
  }

  /**
   * Asks the engine which host is active now. This is no look: looks count the beats of the others, and several in a row
   * would take living hosts for dead.
   */
  async activeNow(): Promise<HostTerm | undefined> {
    const [row] = await this.#engine.run<HostTerm>(
      `SELECT h.id AS host, h.term FROM owners o JOIN hosts h ON h.id = o.host AND h.term = o.term AND h.alive
       WHERE o.channel = $1`,
      [ROOT_OWNER],
    );
    return row;
  }

  /** Another host that is active, as of the last look, and its link address; undefined if it has none. */
  get activeLink(): ActiveLink | undefined {
    const { id, term, link } = this.#others.find(({ active, alive }) => active && alive) ?? {};
    if (this.#isActive || id === undefined || term === undefined || link == null) return undefined;
    return { host: id, term, link };
  }

  /** The other living hosts, as of the last look. */
  get others(): readonly OtherHost[] {
    return this.#others
      .filter(({ alive }) => alive)
      .map(({ id, term, link, active, wanted, facts: text }) => {
        const facts: OtherHost['facts'] = JSON.parse(text);
        return { host: id, term, link, active, facts, isLeaving: wanted === 'drain' || facts.state === 'draining' };
      });
  }

  /** From now on this host does not take over: it is leaving. */
  standDown(): void {
    this.#mayTakeOver = false;
  }

  /** Records a number that this host has shown to clients; the engine must never assign it again. */
  hasShown(number: number): void {
    this.#seen = Math.max(this.#seen, number);
  }

  /** Beats and looks now, and every `BEAT_MS` from now on. */
  lookNow(): Promise<void> {
    this.#cancel();
    this.#round = this.#round.then(() => this.#beatAndLook()).then(() => this.#again());
    return this.#round;
  }

  /** Leaves in good order: another host is told and takes over at once. */
  async leave(): Promise<void> {
    this.#end();
    await this.#round;
    await this.#engine.run('SELECT leave_cluster($1, $2)', [this.me.host, this.me.term]).catch(() => {});
    await this.#engine.close();
    const links = this.#others.flatMap(({ link, alive }) => (alive && link !== null ? link : []));
    await Promise.all(links.map((link) => this.#ask(link, 'look')));
  }

  /** Ends without informing the engine, as after a loss. */
  async close(): Promise<void> {
    this.#end();
    this.#engine.cut();
    await this.#round;
    await this.#engine.close();
  }

  #end(): void {
    this.#isOver = true;
    this.#cancel();
  }

  #again(): void {
    if (!this.#isOver) this.#cancel = this.#clock.after(BEAT_MS, () => void this.lookNow());
  }

  async #beatAndLook(): Promise<void> {
    if (this.#isOver) return;
    try {
      if (!(await this.#beat())) return;
      this.#beatAt = performance.now();
      this.#isReached = true;
      await this.#follow();
      await this.#look();
    } catch (error) {
      if (error instanceof EngineError && error.code === REFUSED.fenced) return this.#lost('fenced', error.message);
      if (!(error instanceof LogUnavailableError || error instanceof EngineError)) throw error;
      await this.#notReached(error);
    }
  }

  /** False when this term is over. */
  async #beat(): Promise<boolean> {
    const { host, term } = this.me;
    const facts = JSON.stringify(this.#options.facts?.() ?? {});
    const [row] = await this.#engine.run<{ wanted: string | null }>(
      'UPDATE hosts SET beat = beat + 1, facts = $3 WHERE id = $1 AND term = $2 AND alive RETURNING wanted',
      [host, term, facts],
    );
    if (row?.wanted === 'drain') this.#drain();
    if (row) return true;
    const [now] = await this.#engine.run<{ term: number }>('SELECT term FROM hosts WHERE id = $1 AND alive', [host]);
    if (now && now.term > term)
      this.#lost('replaced', `another process has joined as ${host}: give each host an id of its own with --host-id`);
    else this.#lost('fenced', `the others have declared ${host} (term ${term}) dead`);
    return false;
  }

  /** Detects that the engine was restored to an older state than this host has seen. */
  async #follow(): Promise<void> {
    const [row] = await this.#engine.run<{ leaped: boolean; head: number }>(
      'SELECT follow_timeline() AS leaped, last_number() AS head',
    );
    if (!row) return;
    const { logger } = this.#options;
    if (row.leaped)
      logger.log(
        'warn',
        'the engine is another one than before: what it had not passed on may be lost; clients get snapshots',
      );
    if (row.head >= this.#seen) this.#seen = row.head;
    else {
      logger.log('error', 'the engine is older than it was: what was stored since is lost; clients get snapshots', {
        ...{ engine: row.head, seen: this.#seen },
      });
      await this.#engine.run('SELECT skip_numbers($1)', [this.#seen]);
    }
  }

  async #look(): Promise<void> {
    const rows = await this.#engine.run<Look>(
      `SELECT h.id, h.term, h.beat, h.link, h.alive, h.wanted, h.facts, o.host IS NOT NULL AS active
       FROM hosts h LEFT JOIN owners o ON o.host = h.id AND o.term = h.term AND o.channel = $2 WHERE h.id <> $1`,
      [this.me.host, ROOT_OWNER],
    );
    this.#others = rows;
    const dead = await this.#lookout.look(rows.filter(({ alive }) => alive));
    for (const { id, term, beat } of dead) {
      const [row] = await this.#engine.run<{ done: boolean }>('SELECT bury($1, $2, $3) AS done', [id, term, beat]);
      if (row?.done) this.#options.logger.log('warn', 'a host no longer answers and was declared dead', { host: id });
    }
    const isHeld = rows.some((host) => host.active && !dead.includes(host));
    if (!this.#isActive && !isHeld && this.#mayTakeOver) await this.#claim();
    if (!this.#isOver) this.#options.looked?.();
  }

  async #claim(): Promise<void> {
    const [row] = await this.#engine.run<{ mine: boolean }>('SELECT claim($1, $2) AS mine', [
      this.me.host,
      this.me.term,
    ]);
    if (!row?.mine || this.#isOver) return;
    this.#isActive = true;
    this.#becomeActive();
  }

  /**
   * After some time without the engine, the others may have declared this host dead, so it asks them. If the engine
   * answers none of them, none can have done that, and all wait for the engine.
   */
  async #notReached(error: Error): Promise<void> {
    this.#isReached = false;
    if (performance.now() - this.#beatAt < CUT_OFF_MS) return;
    const others = this.#others.filter(({ alive }) => alive);
    if (others.length === 0) return;
    const answers = await Promise.all(others.map(({ link }) => (link === null ? 'silent' : this.#ask(link, 'engine'))));
    const isAlone = answers.every((answer) => answer !== 'yes' && answer !== 'no');
    if (answers.includes('yes') || isAlone)
      this.#lost('fenced', `the engine cannot be reached from here: ${error.message}`);
  }

  #lost(kind: LostReason['kind'], text: string): void {
    this.#end();
    this.#lose({ kind, text });
  }

  #ask(link: string, question: 'engine' | 'look'): Promise<Awaited<ReturnType<typeof askLink>>> {
    const { secret = '' } = this.#options;
    return askLink(link, secret, question);
  }
}
