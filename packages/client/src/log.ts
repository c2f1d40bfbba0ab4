/** Where the client says what it had to ignore. Never given tokens. */

export type Log = (message: string, detail?: unknown) => void;

export const consoleLog: Log = (message, detail) =>
  console.warn(`[atrium client] ${message}`, ...(detail ? [detail] : []));
