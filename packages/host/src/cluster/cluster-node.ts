/**
 * A host of a cluster from start to end: it stands by, perhaps running programs for the active host, takes over when no
 * host is active, works, and stands by again when the engine no longer takes its commits. Before it leaves, it lets
 * running turns end, and the programs that it runs for the active host.
 */
import { LogFencedError, LogUnavailableError } from '@atrium/core/log/log.js';
import type { HostTerm } from '@atrium/core/log/shared-log.js';
import type { Host } from '../host-options.js';
import { EngineError } from '../log-postgres/engine.js';
import { openPostgresLog, type PostgresLog, type PostgresLogOptions } from '../log-postgres/postgres-log.js';
import { BEAT_MS } from './limits.js';
import type { ActiveLink } from './link.js';
import { type LostReason, Membership, type MembershipOptions } from './membership.js';
import { WORK_LEVEL } from './program-frames.js';
import type { WorkServer } from './work-server.js';
import type { Worker } from './working-hosts.js';

/** How often a leaving host checks whether turns are still running. */
const DRAIN_LOOK_MS = 100;

export type NodeState = 'joining' | 'stand-by' | 'starting' | 'active' | 'draining';

export interface ClusterNodeOptions extends Omit<MembershipOptions, 'seen' | 'facts' | 'looked'> {
  /** How long a leaving host waits for running turns. */
  readonly drainMs: number;
  readonly textIndex?: PostgresLogOptions['textIndex'];
  /** How many clients this host serves while it stands by. */
  relayedClients?(): number;
  /** Runs programs for the active host. Absent: this host does not. */
  readonly work?: WorkServer | undefined;
  /** Starts a host on the log, and admits clients. The host closes the log when it stops. */
  startHost(log: PostgresLog, place: ActivePlace): Promise<ActiveHost>;
}

/** The active host's place among the others. */
export interface ActivePlace {
  readonly me: HostTerm;
  /** The hosts that run programs for this one, as of the last look. */
  workers(): readonly Worker[];
}

export interface ActiveHost {
  readonly host: Pick<Host, 'activity' | 'failed' | 'drain'>;
  /** Called after each look at the other hosts. */
  looked?(): void;
  /** Disconnects the clients and ends the host; `isLast`: this process ends with it. */
  stop(isLast: boolean): Promise<void>;
}

export class ClusterNode {
  readonly #options: ClusterNodeOptions;
  #state: NodeState = 'joining';
  #member: Membership | undefined;
  #active: ActiveHost | undefined;
  #seen = 0;

  constructor(options: ClusterNodeOptions) {
    this.#options = options;
  }

  get state(): NodeState {
    return this.#state;
  }

  /** Whether clients are served here, and if not, why. */
  get readiness(): { readonly isReady: boolean; readonly text: string } {
    const isReached = this.#member?.isReached ?? false;
    if (this.#state === 'active')
      return { isReady: isReached, text: isReached ? 'active' : 'the engine cannot be reached' };
    const active = this.#member?.activeHost;
    if (this.#state !== 'stand-by') return { isReady: false, text: this.#state };
    return { isReady: false, text: active === undefined ? 'stand-by' : `stand-by; ${active} is active` };
  }

  /** The host through which clients are served while this one stands by. */
  get activeLink(): ActiveLink | undefined {
    return this.#state === 'stand-by' ? this.#member?.activeLink : undefined;
  }

  /** The active host for which this one runs programs, also while it leaves. */
  get workLink(): ActiveLink | undefined {
    return this.#active ? undefined : this.#member?.activeLink;
  }

  /** Whether the engine answers this host; other hosts ask this over the link. */
  get isEngineReached(): boolean {
    return this.#member?.isReached ?? false;
  }

  /** Another host has left: tries to take over without waiting for the next beat. */
  lookNow(): void {
    void this.#member?.lookNow();
  }

  /**
   * Runs until `stop` resolves. Resolves with the reason; rejects when another process uses this host's name. `now`
   * resolves when it must no longer wait for turns.
   */
  async run(stop: Promise<string>, now: Promise<unknown>): Promise<string> {
    for (;;) {
      const member = await this.#join(stop);
      if (!member) return stop;
      const end = await this.#serve(member, stop, now);
      if (end.kind === 'stopped') return end.text;
      if (end.kind === 'replaced') throw new LogFencedError(end.text);
      this.#options.logger.log('warn', 'this host joins the cluster again', { reason: end.text });
    }
  }

  /** Tries until the engine admits this host. */
  async #join(stop: Promise<string>): Promise<Membership | undefined> {
    this.#state = 'joining';
    const { logger } = this.#options;
    for (let tries = 0; ; tries++) {
      try {
        const facts = () => this.#facts;
        const looked = () => this.#looked();
        const member = await Membership.join({ ...this.#options, seen: this.#seen, facts, looked });
        this.#member = member;
        this.#state = 'stand-by';
        logger.log('info', 'joined the cluster', { host: member.me.host, term: member.me.term });
        return member;
      } catch (error) {
        if (!(error instanceof LogUnavailableError || error instanceof EngineError)) throw error;
        if (tries === 0) logger.log('warn', 'cannot join the cluster yet', { error: error.message });
      }
      if ((await Promise.race([stop, pause(BEAT_MS)])) !== undefined) return undefined;
    }
  }

  /** What the other hosts, and people, are told of this one. */
  get #facts(): object {
    const { work, relayedClients } = this.#options;
    return {
      state: this.#state,
      ...(work && { work: WORK_LEVEL, programs: work.programs }),
      ...(this.#active ? this.#active.host.activity : { clients: relayedClients?.() ?? 0 }),
    };
  }

  #looked(): void {
    const { work } = this.#options;
    this.#active?.looked?.();
    if (work && work.programs > 0) void work.activeIs(this.activeTerm);
  }

  /** The active host and its term, as of the last look. */
  get activeTerm(): HostTerm | undefined {
    if (this.#active) return this.#member?.me;
    return this.#member?.others.find(({ active }) => active);
  }

  /** Whether a host is the active one, as the engine knows it now. */
  async isActive({ host, term }: HostTerm): Promise<boolean> {
    const now = await this.#member?.activeNow().catch(() => undefined);
    return now?.host === host && now.term === term;
  }

  get #workers(): readonly Worker[] {
    const others = this.#member?.others ?? [];
    return others.flatMap(({ host, term, link, isLeaving, facts }) =>
      link !== null && facts.work === WORK_LEVEL ? { host, term, link, isLeaving } : [],
    );
  }

  async #serve(member: Membership, stop: Promise<string>, now: Promise<unknown>): Promise<End> {
    const stopped = stop.then((text): End => ({ kind: 'stopped', text }));
    const drained = member.drained.then((): End => ({ kind: 'stopped', text: 'drained' }));
    const over = Promise.race<End>([stopped, drained, member.lost]);
    const waited = await Promise.race([over, member.active]);
    const end = waited ?? (await this.#work(member, over, now));
    if (waited?.kind === 'stopped') await this.#finishWork(member, now);
    await this.#options.work?.endAll();
    this.#seen = Math.max(this.#seen, member.seen);
    this.#member = undefined;
    await (end.kind === 'stopped' ? member.leave() : member.close());
    return end;
  }

  /** Runs the active host until something ends that. */
  async #work(member: Membership, over: Promise<End>, now: Promise<unknown>): Promise<End> {
    const { url, logger, textIndex } = this.#options;
    this.#state = 'starting';
    let log: PostgresLog | undefined;
    try {
      log = await openPostgresLog({ url, owner: member.me, logger, ...(textIndex && { textIndex }) });
      await this.#options.work?.activeIs(member.me);
      const started = await this.#options.startHost(log, { me: member.me, workers: () => this.#workers });
      const { host } = started;
      this.#active = started;
      this.#state = 'active';
      logger.log('info', 'this host is active now', { term: member.me.term });
      const failed = host.failed.then(({ message }): End => ({ kind: 'fenced', text: message }));
      const end = await Promise.race([over, failed]);
      if (end.kind === 'stopped') await this.#drain(host, Promise.race([now, member.lost, failed]));
      else log.fence(end.text);
      this.#active = undefined;
      this.#state = end.kind === 'stopped' ? 'draining' : 'joining';
      await started.stop(end.kind === 'stopped');
      return end;
    } catch (error) {
      // The host could not start: the engine is unreachable, or another host was faster.
      await log?.close();
      if (!(error instanceof LogUnavailableError || error instanceof LogFencedError)) throw error;
      return { kind: 'fenced', text: error.message };
    } finally {
      this.#seen = Math.max(this.#seen, log?.head ?? 0);
    }
  }

  async #drain(host: ActiveHost['host'], now: Promise<unknown>): Promise<void> {
    this.#state = 'draining';
    host.drain();
    const { logger, drainMs } = this.#options;
    const { working } = host.activity;
    if (working > 0) logger.log('info', 'waiting for turns to end', { turns: working, seconds: drainMs / 1_000 });
    await this.#waitWhile(() => host.activity.working > 0, now);
  }

  /** The active host learns that this one leaves, and ends each program as soon as its session is idle. */
  async #finishWork(member: Membership, now: Promise<unknown>): Promise<void> {
    const { work, logger, drainMs } = this.#options;
    if (!work) return;
    work.leave();
    member.standDown();
    this.#state = 'draining';
    if (work.programs === 0) return;
    logger.log('info', 'waiting for programs to end', { programs: work.programs, seconds: drainMs / 1_000 });
    await member.lookNow();
    await this.#waitWhile(() => work.programs > 0, Promise.race([now, member.lost]));
  }

  async #waitWhile(isWanted: () => boolean, now: Promise<unknown>): Promise<void> {
    let isOver = false;
    void now.then(() => {
      isOver = true;
    });
    const until = performance.now() + this.#options.drainMs;
    while (!isOver && isWanted() && performance.now() < until) await pause(DRAIN_LOOK_MS);
  }
}

type End = LostReason | { readonly kind: 'stopped'; readonly text: string };

function pause(milliseconds: number): Promise<undefined> {
  return new Promise((resolve) => setTimeout(() => resolve(undefined), milliseconds));
}
