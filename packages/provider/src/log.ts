/** Where the library says what it had to ignore, and what it waits for. Never given tokens or codes. */

export type Log = (message: string, detail?: unknown) => void;

export const consoleLog: Log = (message, detail) =>
  console.warn(`[atrium provider] ${message}`, ...(detail === undefined ? [] : [detail]));
