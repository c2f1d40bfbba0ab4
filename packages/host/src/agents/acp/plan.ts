/** An agent's plan, as a list that can be read: all of it at first, then only what has changed. */
import { isRecord } from '../../core/util/shape.js';

const BOXES: Readonly<Record<string, string>> = { completed: '[x]', in_progress: '[~]', pending: '[ ]' };

export class PlanReader {
  #known = new Set<string>();

  /** The lines to show now; empty when nothing is new. */
  read(entries: unknown): string {
    const lines = (Array.isArray(entries) ? entries : []).flatMap(lineOf);
    const fresh = lines.filter((line) => !this.#known.has(line));
    this.#known = new Set(lines);
    return fresh.length === 0 ? '' : `\n\nPlan:\n${fresh.join('\n')}\n\n`;
  }
}

function lineOf(entry: unknown): string[] {
  if (!isRecord(entry) || typeof entry.content !== 'string') return [];
  return [`- ${BOXES[String(entry.status)] ?? '[ ]'} ${entry.content}`];
}
