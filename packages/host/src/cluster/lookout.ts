/**
 * Decides which hosts are dead by their beats: a host is dead if its beat stays the same for enough looks of this host.
 * No clock of another machine is compared with ours, so a clock that jumps cannot make a host look dead.
 */
import { LOOKS_UNTIL_DEAD, LOOKS_WHEN_REFUSED } from './limits.js';

export interface SeenHost {
  readonly id: string;
  readonly term: number;
  readonly beat: number;
  /** Its link address, as host:port; null when it gave none. */
  readonly link: string | null;
}

export class Lookout {
  readonly #isRefused: (link: string) => Promise<boolean>;
  #seen = new Map<string, { readonly beat: string; readonly looks: number }>();

  /** `isRefused`: whether the machine answers but refuses connections to that address. */
  constructor(isRefused: (link: string) => Promise<boolean>) {
    this.#isRefused = isRefused;
  }

  /** Takes the living hosts as one look sees them, and returns those that are dead. Call it once per beat. */
  async look(hosts: readonly SeenHost[]): Promise<SeenHost[]> {
    const seen = new Map(
      hosts.map(({ id, term, beat }) => {
        const before = this.#seen.get(id);
        const now = `${term} ${beat}`;
        return [id, { beat: now, looks: before?.beat === now ? before.looks + 1 : 1 }];
      }),
    );
    this.#seen = seen;
    const judged = await Promise.all(hosts.map(async (host) => ({ host, isDead: await this.#isDead(host) })));
    return judged.flatMap(({ host, isDead }) => (isDead ? host : []));
  }

  async #isDead({ id, link }: SeenHost): Promise<boolean> {
    const looks = this.#seen.get(id)?.looks ?? 0;
    if (looks >= LOOKS_UNTIL_DEAD) return true;
    return looks >= LOOKS_WHEN_REFUSED && link !== null && (await this.#isRefused(link));
  }
}
