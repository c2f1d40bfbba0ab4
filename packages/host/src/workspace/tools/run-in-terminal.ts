/** How a tool runs a command in a terminal that people can watch. Made by the terminals of the host, used by the shell. */

import type { RunningCommand } from '../../core/contracts/tool.js';
import type { ProcessEnd, ProcessRequest } from '../../core/util/run-process.js';

export interface TerminalRequest extends Omit<ProcessRequest, 'args' | 'env' | 'input' | 'started'> {
  /** Whether a person is to type; otherwise the command has no input, as with pipes. */
  readonly interactive: boolean;
  /** Holds what the terminal shows before anybody sees it. */
  readonly running?: RunningCommand | undefined;
  /** The terminal is there: clients can be told where to look. */
  shown(terminal: { readonly resource: string; readonly title: string }): void;
}

export type TerminalRun =
  | ProcessEnd
  /** The command goes on without the tool: a person has put it into the background, or taken the terminal. */
  | { readonly kind: 'detached'; readonly isTaken: boolean };

/** Undefined when no terminal can be had now; then nothing has run. */
export type RunInTerminal = (request: TerminalRequest) => Promise<TerminalRun | undefined>;
