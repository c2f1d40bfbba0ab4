/** The terminals that are open, up to a limit: which of them makes room for a new one, and how one goes. */
import { ErrorCode } from '@atrium/protocol';
import type { HostCore } from '../../core/contracts/host-core.js';
import { RequestError } from '../../core/contracts/request-error.js';
import { isOfCall, isOfSession } from './claims.js';
import type { Terminal } from './terminal.js';

/** Terminals of one host, those that have ended and are still shown among them. */
export const TERMINALS_MAX = 64;
/** Terminals of finished calls that a session keeps, so that one can still look at them. */
export const FINISHED_KEPT_PER_SESSION = 3;

export class OpenTerminals {
  readonly #core: HostCore;
  readonly #max: number;
  readonly #all = new Map<string, Terminal>();
  /** Terminals that are off the list, and not at their end yet. */
  readonly #ending = new Map<string, Promise<void>>();
  #isClosed = false;

  constructor(core: HostCore, max: number) {
    this.#core = core;
    this.#max = max;
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  get running(): number {
    return [...this.#all.values()].filter(({ hasExited }) => !hasExited).length;
  }

  get(uri: string): Terminal | undefined {
    return this.#all.get(uri);
  }

  /** A name is in use until its terminal is at its end. */
  isTaken(uri: string): boolean {
    return this.#all.has(uri) || this.#ending.has(uri);
  }

  add(terminal: Terminal): void {
    this.#all.set(terminal.uri, terminal);
    this.publish();
  }

  /**
   * The oldest that has ended goes: what a call left, whose result tells what was shown there, at best one that nobody
   * looks at; otherwise any that nobody looks at. Everything else is somebody's.
   */
  makeRoom(): void {
    if (this.#all.size < this.#max) return;
    const all = [...this.#all.values()];
    const left = all.filter(isLeftByCall);
    const isUnseen = ({ hasExited, uri }: Terminal) => hasExited && !this.#core.isWatched(uri);
    const oldest = left.find(isUnseen) ?? left[0] ?? all.find(isUnseen);
    if (oldest) return void this.remove(oldest);
    throw new RequestError(ErrorCode.PermissionDenied, `${this.#max} terminals are open: dispose of some first`);
  }

  /** Takes it off the list, ends it, and lets those go who watched it until its end. */
  remove(terminal: Terminal): Promise<void> {
    const { uri } = terminal;
    this.#all.delete(uri);
    this.publish();
    const ended = this.#end(terminal).finally(() => this.#ending.delete(uri));
    this.#ending.set(uri, ended);
    return ended;
  }

  async #end(terminal: Terminal): Promise<void> {
    await terminal.end();
    terminal.close();
    this.#core.unsubscribeAll(terminal.uri);
    await this.#core.writer.settled().catch(() => {});
  }

  /** A call is over: what it showed can still be looked at, until some more calls are over. */
  finished({ state: { claim } }: Terminal): void {
    if (claim.kind !== 'session') return;
    const left = this.#of(claim.session).filter(isLeftByCall);
    for (const old of left.slice(0, -FINISHED_KEPT_PER_SESSION)) void this.remove(old);
  }

  async endAllOf(session: string): Promise<void> {
    await Promise.all(this.#of(session).map((terminal) => this.remove(terminal)));
  }

  #of(session: string): Terminal[] {
    return [...this.#all.values()].filter(({ state }) => isOfSession(state.claim, session));
  }

  /** Tells everybody which there are. */
  publish(): void {
    if (!this.#isClosed) this.#core.root.setTerminals([...this.#all.values()].map(({ info }) => info));
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    for (const terminal of this.#all.values()) void this.remove(terminal);
    await Promise.all(this.#ending.values());
  }
}

/** Whether a tool ran its command here, and that is over. */
function isLeftByCall({ isOfTool, hasExited, state }: Terminal): boolean {
  return isOfTool && hasExited && state.claim.kind === 'session' && !isOfCall(state.claim);
}
