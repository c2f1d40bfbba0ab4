/** What clients have loaded, by itself: what is stored of it, and when. */
import { describe, expect, it } from 'vitest';
import { LoadedTurns } from '../../src/wire/loaded-turns.js';

const CHAT = 'ahp-chat:/one';

/** Two hosts, one after the other, with one store. */
function twoHosts() {
  const records = new Map<string, string | null>();
  const options = {
    log: { record: async (key: string) => records.get(key) ?? undefined },
    writer: { record: ({ key, value }: { key: string; value: string | null }) => void records.set(key, value) },
  };
  return [new LoadedTurns(options), new LoadedTurns(options)] as const;
}

describe('what a client has loaded', () => {
  it('outlives a restart, though a number for turns of its last beginning comes behind its new one', async () => {
    const [host, next] = twoHosts();
    const numbered = host.note({ clientId: 'c', start: 1 }, CHAT, 5);
    const owner = { clientId: 'c', start: 2 };
    host.note(owner, CHAT, 7, 10);
    numbered(11);
    expect(await next.returned(owner, 10, [CHAT])).toBe(true);
    expect(next.of(owner, CHAT)).toBe(7);
  });
});
