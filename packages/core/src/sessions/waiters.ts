/** What waits for an action in a chat. Waiting code looks at the stored state, whichever client acted. */
import type { ChatState } from '@atrium/protocol/ahp-1';
import type { Step } from '../channels/channel.js';

/** Thrown into tasks that still wait, or work, for a turn that is over. */
export class TurnOverError extends Error {
  override readonly name = 'AbortError';
  constructor() {
    super('the turn is over');
  }
}

/** Looks at the state that is stored, or at a step that has just been, and gives what it waited for. */
export type Find<T> = (state: ChatState, step?: Step<ChatState>) => T | undefined;

/** What a step is about: the id of a tool call, or this, when it is about none. */
export const NO_CALL = '';

interface Waiter {
  readonly topics: readonly string[];
  /** Looks at the stored state, and at the step that led to it; true when it had waited for that. */
  readonly isDone: (state: ChatState, step?: Step<ChatState>) => boolean;
  readonly abandon: () => void;
}

/** A model may make many calls at once, so a step wakes only those who wait for something of its kind. */
export class Waiters {
  readonly #byTopic = new Map<string, Set<Waiter>>();

  wait<T>(topics: readonly string[], find: Find<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const isDone = (state: ChatState, step?: Step<ChatState>): boolean => {
        const value = find(state, step);
        if (value !== undefined) resolve(value);
        return value !== undefined;
      };
      this.#add({ topics, isDone, abandon: () => reject(new TurnOverError()) });
    });
  }

  /** A step has been stored. */
  observe(step: Step<ChatState>): void {
    this.#tell(topicOf(step), step.after, step);
  }

  /** Something about the session has changed that is no step of the chat. */
  lookAgain(state: ChatState): void {
    this.#tell(NO_CALL, state);
  }

  #tell(topic: string, state: ChatState, step?: Step<ChatState>): void {
    for (const waiter of this.#byTopic.get(topic) ?? []) if (waiter.isDone(state, step)) this.#remove(waiter);
  }

  /** What they wait for does not come any more. */
  abandon(): void {
    for (const waiting of this.#byTopic.values()) for (const waiter of waiting) waiter.abandon();
    this.#byTopic.clear();
  }

  #add(waiter: Waiter): void {
    for (const topic of waiter.topics) {
      const waiting = this.#byTopic.get(topic) ?? new Set();
      this.#byTopic.set(topic, waiting.add(waiter));
    }
  }

  #remove(waiter: Waiter): void {
    for (const topic of waiter.topics) {
      const waiting = this.#byTopic.get(topic);
      waiting?.delete(waiter);
      if (waiting?.size === 0) this.#byTopic.delete(topic);
    }
  }
}

function topicOf({ action }: Step<ChatState>): string {
  return 'toolCallId' in action ? action.toolCallId : NO_CALL;
}
