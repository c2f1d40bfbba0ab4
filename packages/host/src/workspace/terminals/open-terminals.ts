/** The open terminals, up to a limit: which one makes room for a new one, and how one is removed. */

import { RequestError } from '@atrium/core/contracts/request-error.js';
import { ErrorCode, type TerminalInfo } from '@atrium/protocol/ahp-1';
import { isOfCall, isOfSession } from './claims.js';
import type { Terminal } from './terminal.js';

/** Terminals of one host, including ended ones that are still shown. */
export const TERMINALS_MAX = 64;
/** Terminals of finished calls that stay open per session, so that people can still look at them. */
export const FINISHED_KEPT_PER_SESSION = 3;

/** The part of the host that the list of terminals uses. */
export interface OpenTerminalsHost {
  readonly root: { setTerminals(terminals: TerminalInfo[]): void };
  readonly writer: { settled(): Promise<unknown> };
  isWatched(uri: string): boolean;
  unsubscribeAll(uri: string): void;
}

export class OpenTerminals {
  readonly #host: OpenTerminalsHost;
  readonly #max: number;
  readonly #all = new Map<string, Terminal>();
  /** Terminals that are no longer listed while their processes end. */
  readonly #ending = new Map<string, Promise<void>>();
  #isClosed = false;

  constructor(host: OpenTerminalsHost, max: number) {
    this.#host = host;
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

  /** A URI is in use until the processes of its terminal have ended. */
  isInUse(uri: string): boolean {
    return this.#all.has(uri) || this.#ending.has(uri);
  }

  add(terminal: Terminal): void {
    this.#all.set(terminal.uri, terminal);
    this.publish();
  }

  /**
   * Removes the oldest ended terminal without subscribers. Prefers those of finished calls, whose results have their
   * output, and takes one of these even with subscribers if it must. All other terminals are in use.
   */
  makeRoom(): void {
    if (this.#all.size < this.#max) return;
    const all = [...this.#all.values()];
    const left = all.filter(isLeftByCall);
    const isUnwatched = ({ hasExited, uri }: Terminal) => hasExited && !this.#host.isWatched(uri);
    const oldest = left.find(isUnwatched) ?? left[0] ?? all.find(isUnwatched);
    if (oldest) return void this.remove(oldest);
    throw new RequestError(ErrorCode.PermissionDenied, `${this.#max} terminals are open: dispose of some first`);
  }

  /** Removes it from the list, ends it, and then unsubscribes all clients. */
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
    this.#host.unsubscribeAll(terminal.uri);
    await this.#host.writer.settled().catch(() => {});
  }

  /** A call has ended. Its terminal stays open for people to read, until a few more calls have ended. */
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

  /** Updates the list in the root state. */
  publish(): void {
    if (!this.#isClosed) this.#host.root.setTerminals([...this.#all.values()].map(({ info }) => info));
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    for (const terminal of this.#all.values()) void this.remove(terminal);
    await Promise.all(this.#ending.values());
  }
}

/** Whether a tool's command ran here and has ended. */
function isLeftByCall({ isOfTool, hasExited, state }: Terminal): boolean {
  return isOfTool && hasExited && state.claim.kind === 'session' && !isOfCall(state.claim);
}
