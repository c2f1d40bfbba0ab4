/** The exit codes of the command, and its messages for failures. */
import { CommanderError } from 'commander';

export const ExitCode = {
  Ok: 0,
  Failed: 1,
  /** Wrong options or arguments. */
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

/** Wrong options or arguments. The message says how to call the command. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

export class NoSessionError extends Error {
  override readonly name = 'NoSessionError';
  /** `list`: the command that lists the existing ones. */
  constructor(
    message: string,
    readonly list = 'atrium sessions list',
  ) {
    super(message);
  }
}

/** Ends the command with an exit code and without a message. */
export class QuietExit extends Error {
  override readonly name = 'QuietExit';
  constructor(readonly code: ExitCode) {
    super(`exit ${code}`);
  }
}

/** By the names of errors, so that `--help` does not have to load the host or the client. */
const CODES: ReadonlyMap<string, ExitCode> = new Map([
  ...[
    'UsageError',
    'TokenRequiredError',
    'EncryptionRequiredError',
    'TlsFilesError',
    'ScriptError',
    'ConfigError',
    'ClusterError',
    'EngineUrlError',
  ].map((name) => [name, ExitCode.Usage] as const),
  ['NoSessionError', ExitCode.NoSession],
  ['SessionNotFound', ExitCode.NoSession],
  ['RequestTimeoutError', ExitCode.Timeout],
  ['PermissionDenied', ExitCode.Denied],
  ['AccessRefusedError', ExitCode.Denied],
  ['LogLockedError', ExitCode.Taken],
  ['LogFencedError', ExitCode.Taken],
]);

/** Commander has already printed its own errors; `--help` and `--version` are not errors. */
export function exitCodeOf(error: unknown): ExitCode {
  if (error instanceof CommanderError) return error.exitCode === 0 ? ExitCode.Ok : ExitCode.Usage;
  if (error instanceof QuietExit) return error.code;
  return (error instanceof Error && CODES.get(error.name)) || ExitCode.Failed;
}

/** What to print; undefined when there is nothing to add. */
export function explain(error: unknown): string | undefined {
  if (error instanceof CommanderError || error instanceof QuietExit) return undefined;
  const hint = error instanceof Error ? hintFor(error) : undefined;
  return `error: ${errorText(error)}${hint === undefined ? '' : `\n${hint}`}`;
}

/** The message of an error for people; messages of the client library are for programmers. */
export function errorText(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error.name === 'DisconnectedError') return 'the host is not there right now; try again when it is back';
  if (error.name === 'RequestTimeoutError') return 'the host does not answer. To find out why: atrium doctor';
  if (error.name === 'MethodNotFound') return `the host does not offer this: ${error.message}`;
  if (error.name === 'PermissionDenied')
    return error.message.replace(ASK_FOR_ACCESS, '. The host lets clients into the folders of its sessions only');
  return error.message || error.name;
}

/** Advice of the host that only programs can follow. */
const ASK_FOR_ACCESS = /: ask for it with resourceRequest$/;

function hintFor(error: Error): string | undefined {
  if (error.name === 'LogLockedError') return 'Another folder: atrium serve --data-dir <folder>';
  if (error.name === 'AccessRefusedError') return 'The token: --token-file <file>, --token <token>, or ATRIUM_TOKEN';
  if (error instanceof NoSessionError) return `To see them: ${error.list}`;
  const { code, port } = error as NodeJS.ErrnoException & { port?: number };
  if (code === 'EADDRINUSE')
    return `Port ${port} is taken. Stop what uses it, or take any free port: --port 0, or ATRIUM_PORT=0.`;
  if (code === 'EACCES' && port !== undefined) return `Port ${port} needs more rights. Use a port above 1023.`;
  if (code === 'EADDRNOTAVAIL') return 'That address is not one of this machine. Check --host.';
  return undefined;
}
