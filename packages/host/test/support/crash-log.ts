/** A log whose process dies at a chosen commit: right before it is stored, or right after. */
import type { Log } from '@atrium/core/log/log.js';

/** Written as `before:7` or `after:7` in the environment of a process. */
export interface CrashPoint {
  readonly when: 'before' | 'after';
  /** Which commit, from 1. */
  readonly commit: number;
}

export function crashPointText({ when, commit }: CrashPoint): string {
  return `${when}:${commit}`;
}

export function parseCrashPoint(text: string | undefined): CrashPoint | undefined {
  const [when, commit] = text?.split(':') ?? [];
  return when === 'before' || when === 'after' ? { when, commit: Number(commit) } : undefined;
}

/** The same log in all but one thing. */
export function crashingLog(log: Log, point: CrashPoint | undefined, die: () => void): Log {
  if (!point) return log;
  let commits = 0;
  const counted = async <T>(store: () => Promise<T>): Promise<T> => {
    commits += 1;
    if (point.when === 'before' && commits === point.commit) die();
    const stored = await store();
    if (point.when === 'after' && commits === point.commit) die();
    return stored;
  };
  const append: Log['append'] = (commit) => counted(() => log.append(commit));
  const beginClient: Log['beginClient'] = (clientId, facts) => counted(() => log.beginClient(clientId, facts));
  return new Proxy(log, {
    get(target, key) {
      if (key === 'append') return append;
      if (key === 'beginClient') return beginClient;
      const member: unknown = Reflect.get(target, key, target);
      return typeof member === 'function' ? member.bind(target) : member;
    },
  });
}
