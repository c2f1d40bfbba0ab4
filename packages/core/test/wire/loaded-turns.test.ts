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

  it('is nothing worth storing where it has everything, until it once had less', async () => {
    const [host, next] = twoHosts();
    const owner = { clientId: 'c', start: 1 };
    host.note(owner, CHAT, 0, 3);
    expect([host.of(owner, CHAT), host.of(undefined, CHAT), await next.returned(owner, 3, [CHAT])]).toEqual([
      0,
      0,
      true,
    ]);
    expect(next.of(owner, CHAT)).toBe(0);
    host.note(owner, CHAT, 5, 4);
    expect(host.of(owner, CHAT)).toBe(5);
    host.cleared(CHAT, 6);
    expect(host.of(owner, CHAT)).toBe(0);
  });

  it('is as it was under the number that the client saw, of the chats that it still watches', async () => {
    const [host, next] = twoHosts();
    const owner = { clientId: 'c', start: 1 };
    host.note(owner, CHAT, 9, 10);
    host.note(owner, CHAT, 5, 20);
    host.note(owner, 'ahp-chat:/two', 3, 20);
    expect(await next.returned(owner, 15, [CHAT])).toBe(true);
    expect([next.of(owner, CHAT), next.of(owner, 'ahp-chat:/two')]).toEqual([9, 0]);
    expect(next.of({ ...owner, start: 2 }, CHAT)).toBe(0);
  });
});
