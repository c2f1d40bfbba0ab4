/** What went wrong, in words for the person in front of the page. */

const HELP: Readonly<Record<string, string>> = {
  SessionNotFound: 'This session is gone: it was removed, or belongs to another host.',
  DisconnectedError: 'There is no connection to the host now. It comes back by itself; then try again.',
  RequestTimeoutError: 'The host did not answer in time. Try again.',
};

export function problemText(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return HELP[error.name] ?? error.message;
}
