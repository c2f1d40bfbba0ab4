/**
 * Which of Copilot's events began which turn. Kept with the session, because history may also be cut while Copilot is not
 * there: the host's history decides, and Copilot has to forget whatever is not in it.
 */
import type { Turn } from '@atrium/protocol';
import { AGENT_MEMORY_MAX_CHARACTERS, type AgentMemory } from '../../core/contracts/agent.js';

type Anchor = readonly [turnId: string, eventId: string];

export type Alignment =
  | { readonly kind: 'same' }
  /** Copilot has to forget this event and all that came after it. */
  | { readonly kind: 'cut'; readonly eventId: string }
  /** Nothing is known of any turn. */
  | { readonly kind: 'lost' };

export class Anchors {
  readonly #memory: AgentMemory;
  /** Oldest first. */
  #all: readonly Anchor[];

  constructor(memory: AgentMemory) {
    this.#memory = memory;
    const kept = memory.get();
    this.#all = Array.isArray(kept) && kept.every(isAnchor) ? kept : [];
  }

  add(turnId: string, eventId: string): void {
    this.#keep([...this.#all, [turnId, eventId]]);
  }

  clear(): void {
    this.#keep([]);
  }

  /** Goes on after the newest turn of the host's history that Copilot knows. */
  align(turns: readonly Turn[]): Alignment {
    const ids = new Set(turns.map(({ id }) => id));
    const newest = this.#all.findLastIndex(([turnId]) => ids.has(turnId));
    if (newest < 0) return { kind: 'lost' };
    const next = this.#all[newest + 1];
    if (!next) return { kind: 'same' };
    this.#keep(this.#all.slice(0, newest + 1));
    return { kind: 'cut', eventId: next[1] };
  }

  /** The oldest go first: before them, history is told anew instead of cut. */
  #keep(anchors: readonly Anchor[]): void {
    let kept = anchors;
    while (JSON.stringify(kept).length > AGENT_MEMORY_MAX_CHARACTERS) kept = kept.slice(1);
    this.#all = kept;
    this.#memory.set(kept);
  }
}

/** From outside: the host may have been another version when it was written. */
function isAnchor(value: unknown): value is Anchor {
  return Array.isArray(value) && value.length === 2 && value.every((part) => typeof part === 'string');
}
