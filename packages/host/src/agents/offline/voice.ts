/** How the offline agent speaks: at a pace that can be read, and counting what it says. */
import type { AgentTurn } from '../../core/contracts/agent.js';
import { inPace, type Pace } from '../scripted/pace.js';

export const OFFLINE_CHUNKS_PER_SECOND = 40;

export class Voice {
  private characters = 0;

  constructor(
    private readonly turn: AgentTurn,
    private readonly pace: Omit<Pace, 'signal'>,
  ) {}

  /** Everything said so far, thoughts included. */
  get spoken(): number {
    return this.characters;
  }

  say(markdown: string): Promise<void> {
    return inPace(wordsOf(markdown), { ...this.pace, signal: this.turn.signal }, (chunk) => {
      this.characters += chunk.length;
      this.turn.text(chunk);
    });
  }

  think(line: string): void {
    this.characters += line.length;
    this.turn.reasoning(line);
  }
}

const FENCE = /^`{3,}/;

/** Prose word by word; code line by line, because nobody reads code one word at a time. */
export function wordsOf(markdown: string): string[] {
  let inCode = false;
  return markdown.split(/(?<=\n)/).flatMap((line) => {
    const isFence = FENCE.test(line);
    if (isFence) inCode = !inCode;
    return isFence || inCode ? [line] : (line.match(/\s*\S+\s*/g) ?? [line]);
  });
}
