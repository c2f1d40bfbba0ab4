/** Asks a person for a yes, in the terminal that the command runs in. */
import { once } from 'node:events';
import { createInterface } from 'node:readline/promises';
import { ExitCode, QuietExit, UsageError } from './exit.js';
import { io, tell } from './io.js';

export async function isConfirmed(question: string): Promise<boolean> {
  if (!io().stdin.isTTY) throw new UsageError(`${question}\nConfirm with --yes: there is no terminal to ask you in`);
  const lines = createInterface({ input: io().stdin, output: io().stderr });
  // Ctrl+D ends the input without an answer.
  const ended = once(lines, 'close').then(() => '');
  try {
    const answer = await Promise.race([lines.question(`${question}\n(y/n) `), ended]);
    return /^y(es)?$/i.test(answer.trim());
  } catch (error) {
    if (!(error instanceof Error && error.name === 'AbortError')) throw error;
    tell('\nNothing was changed.');
    throw new QuietExit(ExitCode.Interrupted);
  } finally {
    lines.close();
  }
}
