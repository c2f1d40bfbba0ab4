/** What clients do with a terminal: whether they may, and what follows from it. */
import type { StateAction, TerminalClaim, TerminalState } from '@atrium/protocol';
import type { Writer } from '../../core/channels/writer.js';
import { isOfCall } from './claims.js';
import { INPUT_WAITING_MAX_BYTES } from './limits.js';
import { terminalRefusal } from './rules.js';
import type { TerminalProcess } from './terminal-process.js';

export interface ClientActionsOptions {
  readonly writer: Pick<Writer, 'afterCommit' | 'afterFailure'>;
  state(): TerminalState;
  process(): TerminalProcess;
  isSession(uri: string): boolean;
  /** Whether a client is connected. */
  isHere(clientId: string): boolean;
  /** It has another title or owner. */
  changed(action: StateAction): void;
  /** No call uses it any more. */
  unclaimed(claim: TerminalClaim): void;
}

export class ClientActions {
  readonly #options: ClientActionsOptions;
  /** What was typed and the process has not been given yet, because it is not stored. */
  #typedCharacters = 0;

  constructor(options: ClientActionsOptions) {
    this.#options = options;
  }

  refusal(action: StateAction, clientId: string): string | undefined {
    const { state, process, isSession, isHere } = this.#options;
    const { hasExited, pty } = process();
    const isFull = this.#typedCharacters + pty.unreadBytes > INPUT_WAITING_MAX_BYTES;
    return terminalRefusal(action, clientId, { state: state(), hasExited, isFull, isSession, isHere });
  }

  /** What a client asked for has effect when it is stored: only then is it sure to happen once. */
  taken(action: StateAction): void {
    const { writer, changed } = this.#options;
    if (action.type === 'terminal/titleChanged' || action.type === 'terminal/claimed') changed(action);
    const typed = action.type === 'terminal/input' ? action.data.length : 0;
    const forget = () => {
      this.#typedCharacters -= typed;
    };
    this.#typedCharacters += typed;
    writer.afterCommit(() => {
      forget();
      this.#act(action);
    });
    writer.afterFailure(forget);
  }

  #act(action: StateAction): void {
    const { pty } = this.#options.process();
    if (action.type === 'terminal/input') pty.write(action.data);
    if (action.type === 'terminal/resized') pty.resize(action.cols, action.rows);
    if (action.type === 'terminal/claimed' && !isOfCall(action.claim)) this.#options.unclaimed(action.claim);
  }
}
