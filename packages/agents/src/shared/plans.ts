/** Reads task lists in the formats of other agents. */
import type { PlannedTask } from '@atrium/core/contracts/agent.js';
import { isRecord } from '@atrium/core/util/shape.js';

const STATUSES: Readonly<Record<string, PlannedTask['status']>> = {
  completed: 'done',
  in_progress: 'active',
  pending: 'pending',
};

/** `[{ content, status }]`, as in Claude's `TodoWrite` and the Agent Client Protocol; undefined for anything else. */
export function tasksIn(entries: unknown): PlannedTask[] | undefined {
  if (!Array.isArray(entries)) return undefined;
  return entries.flatMap((entry) => {
    if (!isRecord(entry) || typeof entry.content !== 'string') return [];
    return [{ text: entry.content, status: STATUSES[String(entry.status)] ?? 'pending' }];
  });
}

const LINE = /^\s*(?:[-*+]|\d+[.)])\s+\[([ xX~>-]?)\]\s+(.+)$/;

/** A Markdown list of checkboxes, as Copilot writes it; undefined when there is none. */
export function tasksInMarkdown(text: unknown): PlannedTask[] | undefined {
  if (typeof text !== 'string') return undefined;
  const tasks = text.split('\n').flatMap((line): PlannedTask[] => {
    const [, mark = '', words] = LINE.exec(line) ?? [];
    if (words === undefined) return [];
    const status = /[xX]/.test(mark) ? 'done' : /[~>-]/.test(mark) ? 'active' : 'pending';
    return [{ text: words.trim(), status }];
  });
  return tasks.length === 0 ? undefined : tasks;
}
