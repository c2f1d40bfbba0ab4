/** Waiting for an action in a chat. Waiting code looks at the stored state, whichever client acted. */
import type { ChatState } from '@atrium/protocol/ahp-1';
import type { Step } from '../channels/channel.js';

/** Thrown into tasks that still wait or work for a turn that is over. */
export class TurnOverError extends Error {
  override readonly name = 'AbortError';
  constructor() {
    super('the turn is over');
  }
}

/** Looks at the stored state, and at the step just stored, and returns the value it waits for. */
export type Find<T> = (state: ChatState, step?: Step<ChatState>) => T | undefined;

/** The topic of a step that is about no tool call; otherwise, the topic is the id of the call. */
export const NO_CALL = '';

interface Waiter {
  readonly topics: readonly string[];
  /** Looks at the stored state and the step just stored; true when its wait is over. */
  readonly isDone: (state: ChatState, step?: Step<ChatState>) => boolean;
  readonly abandon: () => void;
}

/** Waiting tasks by topic. A model may make many calls at once, so a step wakes only those that wait for its topic. */
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

  /** Wakes tasks that wait for a stored step. */
  observe(step: Step<ChatState>): void {
    this.#wake(topicOf(step), step.after, step);
  }

  /** Wakes tasks after a change of the session that is no step of the chat. */
  recheck(state: ChatState): void {
    this.#wake(NO_CALL, state);
  }

  #wake(topic: string, state: ChatState, step?: Step<ChatState>): void {
    for (const waiter of this.#byTopic.get(topic) ?? []) if (waiter.isDone(state, step)) this.#remove(waiter);
  }

  /** Rejects all waiting tasks: what they wait for will not come. */
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
