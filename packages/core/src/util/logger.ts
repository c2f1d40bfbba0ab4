/** Where the host says what it does. Never given tokens or prompt text. */

export type LogLevel = 'debug' | 'info' | 'warn' | 'error';
export type LogFields = Readonly<Record<string, string | number | boolean | undefined>>;

export interface Logger {
  log(level: LogLevel, message: string, fields?: LogFields): void;
  /** Whether anybody reads lines of this level. A logger that does not say reads all. */
  hears?(level: LogLevel): boolean;
}

export const silentLogger: Logger = { log: () => {}, hears: () => false };

/** For lines that cost something to make. */
export function isHeard(logger: Logger, level: LogLevel): boolean {
  return logger.hears?.(level) ?? true;
}
