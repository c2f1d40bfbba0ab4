/** How many calls run at once. The rest wait in line, but not in an endless one. */
import { QUEUED_CALLS_MAX } from '@atrium/protocol/provider';

/** One call that wants to run. */
export interface Entrant {
  /** How many may be inside when it begins, itself included. */
  readonly max: number;
  /** It is its turn. */
  begin(): void;
}

interface Line {
  readonly inside: Set<Entrant>;
  readonly waiting: Entrant[];
}

/** Lines by name. One that nobody stands in is not kept. */
export class Lines {
  readonly #lines = new Map<string, Line>();

  /** Lets it begin, in this very tick when there is room. False when the line is too long to stand in. */
  enter(name: string, entrant: Entrant): boolean {
    const line = this.#lines.get(name) ?? { inside: new Set(), waiting: [] };
    const mustWait = line.waiting.length > 0 || line.inside.size >= entrant.max;
    if (mustWait && line.waiting.length >= QUEUED_CALLS_MAX) return false;
    this.#lines.set(name, line);
    line.waiting.push(entrant);
    admit(line);
    return true;
  }

  /** It is done, or does not want to any more. */
  leave(name: string, entrant: Entrant): void {
    const line = this.#lines.get(name);
    if (!line) return;
    line.inside.delete(entrant);
    const place = line.waiting.indexOf(entrant);
    if (place >= 0) line.waiting.splice(place, 1);
    admit(line);
    if (line.inside.size === 0 && line.waiting.length === 0) this.#lines.delete(name);
  }

  get size(): number {
    return this.#lines.size;
  }
}

/** Whoever begins may leave at once, and so let in the next one: each round looks anew. */
function admit({ inside, waiting }: Line): void {
  for (let [next] = waiting; next && inside.size < next.max; [next] = waiting) {
    waiting.shift();
    inside.add(next);
    next.begin();
  }
}
