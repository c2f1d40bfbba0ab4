/** Log lines for people (`12:00:00.000 info  message key=value`) or for programs (JSON). Never on standard output. */
import type { LogFields, Logger, LogLevel } from '@atrium/host';

export const LOG_LEVELS = ['debug', 'info', 'warn', 'error'] as const satisfies readonly LogLevel[];
export const LOG_FORMATS = ['text', 'json'] as const;
export type LogFormat = (typeof LOG_FORMATS)[number];

export interface LineLoggerOptions {
  readonly level: LogLevel;
  readonly format: LogFormat;
  /** Removed from every line. */
  readonly secret?: string | undefined;
  readonly now?: () => Date;
  write(line: string): void;
}

export function lineLogger({ level, format, secret, now = () => new Date(), write }: LineLoggerOptions): Logger {
  const render = format === 'json' ? jsonLine : textLine;
  const hears = (lineLevel: LogLevel) => LOG_LEVELS.indexOf(lineLevel) >= LOG_LEVELS.indexOf(level);
  return {
    hears,
    log(lineLevel, message, fields = {}) {
      if (!hears(lineLevel)) return;
      const line = render({ time: now(), level: lineLevel, message, fields });
      write(`${secret ? line.replaceAll(secret, '[token]') : line}\n`);
    },
  };
}

interface Line {
  readonly time: Date;
  readonly level: LogLevel;
  readonly message: string;
  readonly fields: LogFields;
}

function jsonLine({ time, level, message, fields }: Line): string {
  return JSON.stringify({ time: time.toISOString(), level, message, ...fields });
}

function textLine({ time, level, message, fields }: Line): string {
  const pairs = Object.entries(fields).filter(([, value]) => value !== undefined);
  const words = [time.toISOString().slice(11, 23), level.padEnd(5), oneLine(message)];
  return [...words, ...pairs.map(([key, value]) => `${key}=${shown(String(value))}`)].join(' ');
}

/** Text from outside must not be able to begin a log line. */
function oneLine(text: string): string {
  return text.replace(/\p{Cc}+/gu, ' ');
}

function shown(value: string): string {
  return /^[^\s"=\p{Cc}]+$/u.test(value) ? value : JSON.stringify(value);
}
