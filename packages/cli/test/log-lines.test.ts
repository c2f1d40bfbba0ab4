import { describe, expect, it } from 'vitest';
import { type LineLoggerOptions, lineLogger } from '../src/log-lines.js';

function lines(options: Partial<LineLoggerOptions>, use: (logger: ReturnType<typeof lineLogger>) => void): string[] {
  const written: string[] = [];
  const now = () => new Date('2026-01-02T03:04:05.678Z');
  use(lineLogger({ level: 'info', format: 'text', now, write: (line) => written.push(line), ...options }));
  return written;
}

describe('log lines', () => {
  it('are for people: time, level, message, fields', () => {
    const written = lines({}, ({ log }) =>
      log('warn', 'connection refused', { status: 401, reason: 'no token', x: undefined }),
    );
    expect(written).toEqual(['03:04:05.678 warn  connection refused status=401 reason="no token"\n']);
  });

  it('are for programs: one JSON object each', () => {
    const [line = ''] = lines({ format: 'json' }, ({ log }) => log('info', 'listening', { port: 9300 }));
    expect(JSON.parse(line)).toEqual({
      time: '2026-01-02T03:04:05.678Z',
      level: 'info',
      message: 'listening',
      port: 9300,
    });
  });

  it('leave out what is below the level', () => {
    const written = lines({ level: 'warn' }, ({ log }) => {
      for (const level of ['debug', 'info', 'warn', 'error'] as const) log(level, level);
    });
    expect(written.map((line) => line.trim().split(' ').at(-1))).toEqual(['warn', 'error']);
  });

  it('stay one line each, whatever is in them', () => {
    const [line = ''] = lines({}, ({ log }) => log('info', 'a\nb\u001b[31m', { path: 'c\nd', equal: 'e=f' }));
    expect(line).toBe('03:04:05.678 info  a b [31m path="c\\nd" equal="e=f"\n');
  });

  it('[REL-004] never show the secret, whichever part logs it', () => {
    const written = lines({ secret: 's3cret' }, ({ log }) => log('info', 'GET /?token=s3cret', { url: '?tkn=s3cret' }));
    expect(written.join()).not.toContain('s3cret');
  });
});
