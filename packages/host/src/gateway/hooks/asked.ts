/** Questions that providers have yet to answer. Each is answered once, by the one who was asked. */
import { randomUUID } from 'node:crypto';
import type { Clock } from '../../core/util/clock.js';
import type { Provider } from '../provider.js';

interface Open<Answer> {
  readonly provider: Provider;
  /** What was asked about; an answer about something else is none. */
  readonly topic: string;
  readonly resolve: (answer: Answer | undefined) => void;
}

export interface Question {
  readonly provider: Provider;
  readonly topic: string;
  /** Nobody wants the answer any more. */
  readonly signal: AbortSignal;
  /** Without one, whoever asks has a clock of their own. */
  readonly deadline?: { readonly clock: Clock; readonly timeoutMs: number };
  readonly send: (id: string) => void;
}

export class Asked<Answer> {
  readonly #open = new Map<string, Open<Answer>>();

  /** Resolves with the answer; with undefined when the provider went away, or nobody waits for it any longer. */
  ask({ provider, topic, signal, deadline, send }: Question): Promise<Answer | undefined> {
    if (signal.aborted) return Promise.resolve(undefined);
    const id = randomUUID();
    return new Promise((resolve) => {
      const giveUp = () => done(undefined);
      const stopTimer = deadline?.clock.after(deadline.timeoutMs, giveUp);
      const done = (answer: Answer | undefined) => {
        this.#open.delete(id);
        signal.removeEventListener('abort', giveUp);
        stopTimer?.();
        resolve(answer);
      };
      signal.addEventListener('abort', giveUp, { once: true });
      this.#open.set(id, { provider, topic, resolve: done });
      send(id);
    });
  }

  /** An answer that nobody waits for means nothing. */
  answer(provider: Provider, { id, topic }: { id: string; topic: string }, answer: Answer): void {
    const open = this.#open.get(id);
    if (open?.provider === provider && open.topic === topic) open.resolve(answer);
  }

  left(provider: Provider): void {
    for (const open of [...this.#open.values()]) if (open.provider === provider) open.resolve(undefined);
  }
}
