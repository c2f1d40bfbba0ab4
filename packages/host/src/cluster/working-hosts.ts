/**
 * Where the programs of sessions run: the active host places each session on a host that works for it, or runs its
 * programs itself. All programs of a session run on one host while any of them runs.
 */
import { randomBytes } from 'node:crypto';
import { connect } from 'node:net';
import type { FolderPlaces } from '@atrium/core/contracts/folder-places.js';
import type { LastHosts, SessionPrograms } from '@atrium/core/contracts/session-programs.js';
import type { HostTerm } from '@atrium/core/log/shared-log.js';
import type { Logger } from '@atrium/core/util/logger.js';
import {
  type Program,
  ProgramError,
  type ProgramRequest,
  type StartProgram,
  startProgram,
} from '@atrium/core/util/programs.js';
import { joinStreams } from './join-streams.js';
import { COMMAND_MISSING_MS, FAILED_HOST_MS, LOAD_FACTOR_MAX, LOAD_MORE_MAX, PLACES_REMEMBERED_MAX } from './limits.js';
import { openStream, type ServeStream } from './link.js';
import { type RemoteProgram, startRemoteProgram } from './remote-program.js';

/** A living host that works for the active one, as of its last look. */
export interface Worker extends HostTerm {
  readonly link: string;
  readonly isLeaving: boolean;
}

export interface WorkingHostsOptions {
  readonly me: HostTerm;
  readonly secret: string;
  readonly logger: Logger;
  readonly places: FolderPlaces;
  /** Whether this host takes its share. If not, it runs only what no other host can. */
  readonly worksHere: boolean;
  workers(): readonly Worker[];
  readonly start?: StartProgram;
}

/** Where a session works, or worked last. */
interface Place {
  /** Undefined: this host. */
  readonly host: string | undefined;
  running: number;
}

/** Of these, the host itself is not the cause: it is asked again for the next program. */
const NOT_ITS_FAULT: ReadonlySet<string> = new Set(['ELEAVING', 'EFOLDER']);
/** Of these, only the command is: the host may have others. */
const LACKS_COMMAND: ReadonlySet<string> = new Set(['ENOENT', 'EACCES']);
const NAME_BYTES = 18;

export class WorkingHosts implements SessionPrograms {
  readonly #options: WorkingHostsOptions;
  readonly #places = new Map<string, Place>();
  readonly #remote = new Map<RemoteProgram, Worker>();
  /** Ports of this host that programs elsewhere may use, by the name under which they ask. */
  readonly #offers = new Map<string, number>();
  /** When a host was found to lack a command. */
  readonly #lacking = new Map<string, number>();
  #rest: (session: string) => void = () => {};
  #lastHosts: LastHosts | undefined;

  constructor(options: WorkingHostsOptions) {
    this.#options = options;
  }

  startFor(session: string, folders: readonly string[] = []): StartProgram {
    return (request) => this.#start(session, { ...request, folders });
  }

  rememberIn(hosts: LastHosts): void {
    this.#lastHosts = hosts;
  }

  whenLeaving(rest: (session: string) => void): void {
    this.#rest = rest;
  }

  /** Call it after each look at the other hosts: those that are gone have lost their programs, and those that leave get no more. */
  looked(): void {
    const workers = this.#options.workers();
    for (const [program, { host, term }] of this.#remote)
      if (!workers.some((worker) => worker.host === host && worker.term === term)) program.lose('is gone');
    for (const [session, { host, running }] of this.#places)
      if (running > 0 && workers.some((worker) => worker.host === host && worker.isLeaving)) this.#rest(session);
  }

  /** Serves a program elsewhere that asks for what it was lent; undefined when it was lent nothing by that name. */
  reached(name: string): ServeStream | undefined {
    const port = this.#offers.get(name);
    if (port === undefined) return undefined;
    return (stream) => {
      joinStreams(connect({ host: '127.0.0.1', port, allowHalfOpen: true }), stream);
    };
  }

  async #start(session: string, request: ProgramRequest): Promise<Program> {
    const { logger, start = startProgram } = this.#options;
    const refusals: string[] = [];
    await this.#recall(session);
    for (const worker of this.#candidates(session, request)) {
      try {
        return await this.#placed(session, worker.host, () => this.#startAt(worker, request));
      } catch (error) {
        // Whatever the reason, the program has not begun there.
        if (!(error instanceof ProgramError)) throw error;
        this.#remember(worker, request, error.code);
        refusals.push(`${worker.host}: ${error.message}`);
      }
    }
    if (refusals.length > 0)
      logger.log('warn', 'other hosts cannot run a program, so this one does', { session, why: refusals.join('; ') });
    return this.#placed(session, undefined, () => start(request));
  }

  /** After a takeover, the log knows where a session worked last. */
  async #recall(session: string): Promise<void> {
    if (this.#places.has(session)) return;
    const last = await this.#lastHosts?.of(session);
    if (last === undefined || this.#places.has(session)) return;
    this.#places.set(session, { host: last === this.#options.me.host ? undefined : last, running: 0 });
  }

  /** The hosts that are asked, in order, before this one runs the program itself. */
  #candidates(session: string, request: ProgramRequest): readonly Worker[] {
    const { worksHere, workers } = this.#options;
    const known = this.#places.get(session);
    const isLast = ({ host }: Worker) => host === known?.host;
    const isAtWork = known !== undefined && known.running > 0;
    if (isAtWork && known.host === undefined) return [];
    const able = workers().filter((worker) => !worker.isLeaving && !this.#lacks(worker, request));
    const loads = new Map<string | undefined, number>();
    for (const place of this.#places.values())
      if (place.running > 0) loads.set(place.host, (loads.get(place.host) ?? 0) + 1);
    const loadOf = (host: string | undefined) => loads.get(host) ?? 0;
    const least = Math.min(
      ...able.map(({ host }) => loadOf(host)),
      worksHere ? loadOf(undefined) : Number.POSITIVE_INFINITY,
    );
    const mayReturn =
      known !== undefined && (isAtWork || loadOf(known.host) <= LOAD_FACTOR_MAX * least + LOAD_MORE_MAX);
    if (mayReturn && known.host === undefined && worksHere) return [];
    const first = mayReturn ? able.filter(isLast) : [];
    const others = able.filter((worker) => !first.includes(worker)).sort((a, b) => loadOf(a.host) - loadOf(b.host));
    const lighter = worksHere ? others.filter(({ host }) => loadOf(host) <= loadOf(undefined)) : others;
    return [...first, ...lighter];
  }

  /** A host that could not start a program is not asked for a while: without load, it would be first for every session. */
  #remember(worker: Worker, request: ProgramRequest, code: string): void {
    if (NOT_ITS_FAULT.has(code)) return;
    this.#lacking.set(LACKS_COMMAND.has(code) ? lackOf(worker, request) : failureOf(worker), performance.now());
  }

  #lacks(worker: Worker, request: ProgramRequest): boolean {
    return (
      this.#hasLacked(lackOf(worker, request), COMMAND_MISSING_MS) || this.#hasLacked(failureOf(worker), FAILED_HOST_MS)
    );
  }

  #hasLacked(name: string, forMs: number): boolean {
    const since = this.#lacking.get(name);
    if (since === undefined) return false;
    if (performance.now() - since < forMs) return true;
    this.#lacking.delete(name);
    return false;
  }

  async #startAt(worker: Worker, request: ProgramRequest): Promise<RemoteProgram> {
    const { me, secret, places } = this.#options;
    const { host, link } = worker;
    const folders = new Set([...(request.cwd === undefined ? [] : [request.cwd]), ...(request.folders ?? [])]);
    const found = await Promise.all([...folders].map((folder) => places.placeOf(folder)));
    const stream = await openStream(link, secret, { question: 'work', about: JSON.stringify(me) });
    if (!stream) throw new ProgramError('EUNREACHED', 'it cannot be reached, or does not work for this host');
    const program = await startRemoteProgram(stream, {
      ...{ request, host, offer: (port: number) => this.#offer(port) },
      places: found.filter((place) => place !== undefined),
    });
    this.#remote.set(program, worker);
    void program.exited.then(() => this.#remote.delete(program));
    return program;
  }

  #offer(port: number) {
    const id = randomBytes(NAME_BYTES).toString('base64url');
    this.#offers.set(id, port);
    return { id, withdraw: () => void this.#offers.delete(id) };
  }

  /** Counts a program of a session from the moment that it is asked for, so that the next one finds its place taken. */
  async #placed(session: string, host: string | undefined, start: () => Promise<Program>): Promise<Program> {
    const before = this.#places.get(session);
    const place = before?.host === host && before ? before : { host, running: 0 };
    const end = () => {
      place.running -= 1;
    };
    place.running += 1;
    this.#places.delete(session);
    this.#places.set(session, place);
    if (this.#places.size > PLACES_REMEMBERED_MAX) this.#forgetOldest();
    try {
      const program = await start();
      void program.exited.then(end);
      if (place !== before) this.#lastHosts?.set(session, host ?? this.#options.me.host);
      return program;
    } catch (error) {
      end();
      throw error;
    }
  }

  #forgetOldest(): void {
    for (const [session, { running }] of this.#places) if (running === 0) return void this.#places.delete(session);
  }
}

function failureOf({ host, term }: Worker): string {
  return `${host} ${term}`;
}

function lackOf({ host, term }: Worker, { command }: ProgramRequest): string {
  return `${host} ${term} ${command}`;
}
