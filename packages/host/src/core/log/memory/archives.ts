/** The archives in memory: each channel's state at one number, and its finished turns. */
import { checkTurnStart, turnsPresent } from '../check-commit.js';
import type { Archive, ArchivedTurn, ArchiveHead, TurnRange } from '../log.js';

export class MemoryArchives {
  readonly #heads = new Map<string, Pick<Archive, 'seq' | 'head'>>();
  readonly #turns = new Map<string, readonly ArchivedTurn[]>();

  /** Throws when the turns of a commit would leave a hole, before any of it is stored. */
  check(archives: readonly Archive[]): void {
    const counts = new Map<string, number>();
    for (const archive of archives) {
      const { channel, turns } = archive;
      checkTurnStart(archive, counts.get(channel) ?? this.#turnsOf(channel).length);
      counts.set(channel, turns.start + turns.items.length);
    }
  }

  put({ channel, seq, head, turns }: Archive): void {
    this.#heads.set(channel, { seq, head });
    this.#turns.set(channel, [...this.#turnsOf(channel).slice(0, turns.start), ...turns.items]);
  }

  head(channel: string): ArchiveHead | undefined {
    const archive = this.#heads.get(channel);
    return archive && { ...archive, turnCount: this.#turnsOf(channel).length };
  }

  channels(): string[] {
    return [...new Set([...this.#heads.keys(), ...this.#turns.keys()])];
  }

  /** The number that a channel's archive stands at. */
  seqOf(channel: string): number {
    return this.#heads.get(channel)?.seq ?? 0;
  }

  turns(channel: string, { start, end, maxBytes }: TurnRange): ArchivedTurn[] {
    const turns = this.#turnsOf(channel).slice(Math.max(0, start), Math.max(0, end));
    if (maxBytes === undefined) return turns;
    let bytes = 0;
    const last = turns.findIndex(({ json }) => {
      bytes += Buffer.byteLength(json);
      return bytes >= maxBytes;
    });
    return last < 0 ? turns : turns.slice(0, last + 1);
  }

  findTurn(channel: string, turnId: string): number | undefined {
    const index = this.#turnsOf(channel).findIndex(({ id }) => id === turnId);
    return index < 0 ? undefined : index;
  }

  copyTurns(from: string, to: string, end: number): void {
    if (this.#turnsOf(to).length > 0) throw turnsPresent(to);
    this.#turns.set(to, this.turns(from, { start: 0, end }));
  }

  forget(channel: string): void {
    this.#heads.delete(channel);
    this.#turns.delete(channel);
  }

  #turnsOf(channel: string): readonly ArchivedTurn[] {
    return this.#turns.get(channel) ?? [];
  }
}
