/** How the command ends, and what it says when it ends badly. */
import { CommanderError } from 'commander';

export const ExitCode = {
  Ok: 0,
  Failed: 1,
  /** Called in a way that cannot work. */
  Usage: 2,
  Timeout: 3,
  /** There is no such session. */
  NoSession: 4,
  /** A tool was not allowed to run, or the host did not let us in. */
  Denied: 5,
  /** Another host has the data folder. */
  Taken: 6,
  /** Ctrl+C, as shells count it: 128 and the number of the signal. */
  Interrupted: 130,
} as const;
export type ExitCode = (typeof ExitCode)[keyof typeof ExitCode];

/** The command was called in a way that cannot work. The message says how to call it. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

export class NoSessionError extends Error {
  override readonly name = 'NoSessionError';
}

/** Everything has been said already; only the exit code is left. */
export class QuietExit extends Error {
  override readonly name = 'QuietExit';
  constructor(readonly code: ExitCode) {
    super(`exit ${code}`);
  }
}

/** By name, so that `--help` does not have to load the host or the client. */
const CODES: ReadonlyMap<string, ExitCode> = new Map([
  ...['UsageError', 'TokenRequiredError', 'ScriptError', 'ConfigError'].map((name) => [name, ExitCode.Usage] as const),
  ['NoSessionError', ExitCode.NoSession],
  ['SessionNotFound', ExitCode.NoSession],
  ['RequestTimeoutError', ExitCode.Timeout],
  ['PermissionDenied', ExitCode.Denied],
  ['AccessRefusedError', ExitCode.Denied],
  ['LogLockedError', ExitCode.Taken],
]);

/** Commander has printed its own errors already; `--help` and `--version` are no errors at all. */
export function exitCodeOf(error: unknown): ExitCode {
  if (error instanceof CommanderError) return error.exitCode === 0 ? ExitCode.Ok : ExitCode.Usage;
  if (error instanceof QuietExit) return error.code;
  return (error instanceof Error && CODES.get(error.name)) || ExitCode.Failed;
}

/** What to print; undefined when there is nothing to add. */
export function explain(error: unknown): string | undefined {
  if (error instanceof CommanderError || error instanceof QuietExit) return undefined;
  if (!(error instanceof Error)) return `error: ${String(error)}`;
  const hint = hintFor(error);
  return `error: ${error.message}${hint === undefined ? '' : `\n${hint}`}`;
}

function hintFor(error: Error): string | undefined {
  if (error.name === 'LogLockedError') return 'Another folder: atrium serve --data-dir <folder>';
  if (error.name === 'AccessRefusedError') return 'The token: --token-file <file>, or ATRIUM_TOKEN';
  if (error.name === 'NoSessionError') return 'To see all sessions: atrium sessions list';
  const { code, port } = error as NodeJS.ErrnoException & { port?: number };
  if (code === 'EADDRINUSE')
    return `Port ${port} is taken. Stop what uses it, or start with --port 0 for any free port.`;
  if (code === 'EACCES' && port !== undefined) return `Port ${port} needs more rights. Use a port above 1023.`;
  if (code === 'EADDRNOTAVAIL') return 'That address is not one of this machine. Check --host.';
  return undefined;
}
