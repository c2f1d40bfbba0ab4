/** Errors in words for people. */

const HELP: Readonly<Record<string, string>> = {
  SessionNotFound: 'This session is gone: it was removed, or belongs to another host.',
  DisconnectedError: 'There is no connection to the host now. It comes back by itself; then try again.',
  RequestTimeoutError: 'The host did not answer in time. Try again.',
};

export function problemText(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return HELP[error.name] ?? error.message;
}

/** The code of an error that the host answered with; undefined for everything else. */
export function codeOf(error: unknown): number | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'number' ? error.code : undefined;
}
