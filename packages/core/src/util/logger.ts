/** Writes the host's log. Never pass tokens or prompt text. */

export type LogLevel = 'debug' | 'info' | 'warn' | 'error';
export type LogFields = Readonly<Record<string, string | number | boolean | undefined>>;

export interface Logger {
  log(level: LogLevel, message: string, fields?: LogFields): void;
  /** True when lines of this level are read. Without this method, all are. */
  hears?(level: LogLevel): boolean;
}

export const silentLogger: Logger = { log: () => {}, hears: () => false };

/** Checks before making a line that is expensive to make. */
export function isHeard(logger: Logger, level: LogLevel): boolean {
  return logger.hears?.(level) ?? true;
}
