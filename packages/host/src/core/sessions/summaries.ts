/** Keeps the session list true: in the catalogue, and at everyone who shows a list. */
import type { SessionState, SessionSummary } from '@atrium/protocol';

type Changes = Record<string, unknown>;

/** Members that never change. */
const IDENTITY: ReadonlySet<string> = new Set(['resource', 'provider', 'createdAt']);

/** What changed between two summaries; `null` for a member that is gone. Undefined when nothing did. */
export function summaryChanges(before: SessionSummary, after: SessionSummary): Changes | undefined {
  if (before === after) return undefined;
  const keys = new Set([...Object.keys(before), ...Object.keys(after)] as (keyof SessionSummary)[]);
  const changed = [...keys].filter((key) => !IDENTITY.has(key) && !isSame(before[key], after[key]));
  return changed.length ? Object.fromEntries(changed.map((key) => [key, after[key] ?? null])) : undefined;
}

function isSame(a: unknown, b: unknown): boolean {
  return a === b || JSON.stringify(a) === JSON.stringify(b);
}

/** Whether a session is at work, so that a crash now would cut something off. */
export function isAtWork(state: SessionState): boolean {
  return !!state.activeTurn || state.lifecycle === 'creating';
}
