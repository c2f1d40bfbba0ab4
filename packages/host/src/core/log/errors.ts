/** What can go wrong with a log on disk. Every message names the file and says what to do about it. */

export type LogOpenReason =
  | 'not-a-folder'
  | 'not-writable'
  | 'symlink'
  | 'not-a-file'
  | 'foreign'
  | 'newer'
  | 'disk-full'
  | 'failed';

/** The data folder cannot be used as it is. Nothing in it was lost. */
export class LogOpenError extends Error {
  override readonly name = 'LogOpenError';
  constructor(
    readonly reason: LogOpenReason,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

/** Another process has the data folder open. */
export class LogLockedError extends Error {
  override readonly name = 'LogLockedError';
  constructor(
    readonly dataDir: string,
    /** The holder, as far as it left its number behind. */
    readonly pid: number | undefined,
  ) {
    const holder = pid === undefined ? 'another process' : `process ${pid}`;
    super(`${dataDir} is in use by ${holder}: stop it, connect to it instead, or choose another data folder`);
  }
}

export type LogWriteReason =
  | 'closed'
  | 'not-contiguous'
  | 'duplicate-origin'
  | 'invalid-archive'
  | 'turns-present'
  | 'disk-full'
  | 'damaged'
  | 'failed';

/** A commit was refused or could not be written. Nothing of it is in the log. */
export class LogWriteError extends Error {
  override readonly name = 'LogWriteError';
  constructor(
    readonly reason: LogWriteReason,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

export function closedError(): LogWriteError {
  return new LogWriteError('closed', 'the log is closed: open it again before using it');
}
