/** Which numbers of clients are settled. Kept apart from the entries, so that dropping those forgets no number. */
import { duplicateOrigin } from '../check-commit.js';
import type { EntryOrigin, LogEntry } from '../log.js';

export class ClientNumbers {
  /** By client and epoch. */
  readonly #settled = new Map<string, Map<number, Set<number>>>();

  /** Throws when a commit has a number that is settled, or one twice, before any of it is stored. */
  check(entries: readonly LogEntry[]): void {
    const fresh = new Set<string>();
    for (const { origin } of entries) {
      if (origin === undefined) continue;
      const { clientId, epoch, clientSeq } = origin;
      const key = `${clientSeq} ${epoch} ${clientId}`;
      if (fresh.has(key) || this.#settled.get(clientId)?.get(epoch)?.has(clientSeq)) throw duplicateOrigin(origin);
      fresh.add(key);
    }
  }

  add({ clientId, epoch, clientSeq }: EntryOrigin): void {
    const epochs = this.#settled.get(clientId) ?? new Map<number, Set<number>>();
    const numbers = epochs.get(epoch) ?? new Set<number>();
    this.#settled.set(clientId, epochs.set(epoch, numbers.add(clientSeq)));
  }

  /** At or above a number, ascending. */
  from({ clientId, epoch }: Pick<EntryOrigin, 'clientId' | 'epoch'>, from: number): number[] {
    const numbers = [...(this.#settled.get(clientId)?.get(epoch) ?? [])];
    return numbers.filter((number) => number >= from).sort((a, b) => a - b);
  }

  forget(clientId: string): void {
    this.#settled.delete(clientId);
  }
}
