/** What goes to standard output, for people or programs, and what is said beside it. */
import { ExitCode } from './exit.js';

/** One line of JSON. */
export function printJson(value: unknown): void {
  process.stdout.write(`${JSON.stringify(value)}\n`);
}

export function print(text: string): void {
  process.stdout.write(`${text}\n`);
}

/** Progress goes to standard error: what is piped on stays clean. */
export function tell(text: string): void {
  process.stderr.write(`${text}\n`);
}

/** Whoever reads our output may have seen enough (`| head`): that is no error. A full disk is one, and is said. */
export function endQuietlyWhenUnread(): void {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit(ExitCode.Ok);
    tell(`error: standard output cannot be written: ${error.message}`);
    process.exit(ExitCode.Failed);
  });
  // Nobody hears what is said beside it; the work goes on.
  process.stderr.on('error', () => {});
}
