/** Where the host says what it does. Never given tokens or prompt text. */

export type LogLevel = 'debug' | 'info' | 'warn' | 'error';
export type LogFields = Readonly<Record<string, string | number | boolean | undefined>>;

export interface Logger {
  log(level: LogLevel, message: string, fields?: LogFields): void;
}

export const silentLogger: Logger = { log: () => {} };
