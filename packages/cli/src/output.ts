/** What goes to standard output, for people or programs, and what is said beside it. */

import { ExitCode } from './exit.js';
import { io } from './io.js';

/** One line of JSON. */
export function printJson(value: unknown): void {
  io().stdout.write(`${JSON.stringify(value)}\n`);
}

export function print(text: string): void {
  io().stdout.write(`${text}\n`);
}

/** Progress goes to standard error: what is piped on stays clean. */
export function tell(text: string): void {
  io().stderr.write(`${text}\n`);
}

/** Whoever reads our output may have seen enough (`| head`): that is no error. A full disk is one, and is said. */
export function endQuietlyWhenUnread(): void {
  io().stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') io().exit(ExitCode.Ok);
    tell(`error: standard output cannot be written: ${error.message}`);
    io().exit(ExitCode.Failed);
  });
  // Nobody hears what is said beside it; the work goes on.
  io().stderr.on('error', () => {});
}
