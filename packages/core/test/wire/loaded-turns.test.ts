/** What clients have loaded, by itself: what is stored of it, and when. */
import { describe, expect, it } from 'vitest';
import type { RecordRequest } from '../../src/channels/writer.js';
import { WINDOW_STEPS_MAX, WINDOWED_CHATS_MAX } from '../../src/wire/limits.js';
import { LoadedTurns } from '../../src/wire/loaded-turns.js';

const CHAT = 'ahp-chat:/one';

/** Two hosts, one after the other, with one store. */
function twoHosts() {
  const records = new Map<string, string | null>();
  const options = {
    log: { record: async (key: string) => records.get(key) ?? undefined },
    writer: { record: ({ key, value }: RecordRequest) => void records.set(key, value as string | null) },
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

  it(`is told apart in ${WINDOW_STEPS_MAX} steps: what is older counts for the smaller part`, async () => {
    const owner = { clientId: 'c', start: 1 };
    const seenAfter = async (steps: number, seen: number) => {
      const [host, next] = twoHosts();
      for (let step = 1; step <= steps; step++) host.note(owner, CHAT, 100 - step, step);
      expect(await next.returned(owner, seen, [CHAT])).toBe(true);
      return next.of(owner, CHAT);
    };
    expect(await seenAfter(WINDOW_STEPS_MAX, 2)).toBe(98);
    expect(await seenAfter(WINDOW_STEPS_MAX + 1, 2)).toBe(99);
    expect(await seenAfter(WINDOW_STEPS_MAX + 1, 3)).toBe(97);
  });

  it(`is known of ${WINDOWED_CHATS_MAX} chats: of others it is said once that it is not`, async () => {
    const owner = { clientId: 'c', start: 1 };
    const chats = Array.from({ length: WINDOWED_CHATS_MAX + 1 }, (_, index) => `ahp-chat:/${index}`);
    const [first = '', second = ''] = chats;
    const told = (count: number) => {
      const hosts = twoHosts();
      for (const chat of chats.slice(0, count)) hosts[0].note(owner, chat, 4, 1);
      return hosts[1];
    };
    const full = told(WINDOWED_CHATS_MAX);
    expect(await full.returned(owner, 1, [first, 'ahp-chat:/whole'])).toBe(true);
    expect(full.of(owner, first)).toBe(4);
    expect(await told(WINDOWED_CHATS_MAX + 1).returned(owner, 1, [second])).toBe(true);
    const cut = told(WINDOWED_CHATS_MAX + 1);
    expect(await cut.returned(owner, 1, [first, second])).toBe(false);
    expect(await cut.returned(owner, 1, [first, second])).toBe(true);
  });

  it('has a number for those steps only that the client was told', async () => {
    const [host, next] = twoHosts();
    const owner = { clientId: 'c', start: 1 };
    host.note(owner, CHAT, 9, 10);
    const numbered = host.note(owner, CHAT, 5);
    host.note(owner, 'ahp-chat:/two', 3, 11);
    expect(await next.returned(owner, 12, [CHAT])).toBe(true);
    expect(next.of(owner, CHAT)).toBe(9);
    numbered(12);
    const later = twoHosts();
    const again = later[0].note(owner, CHAT, 9, 10);
    later[0].note(owner, CHAT, 5)(12);
    again(10);
    expect(await later[1].returned(owner, 12, [CHAT])).toBe(true);
    expect(later[1].of(owner, CHAT)).toBe(5);
  });

  it('is nothing any more once the client is back and has everything', async () => {
    const [host, next] = twoHosts();
    const owner = { clientId: 'c', start: 1 };
    host.note(owner, CHAT, 9, 10);
    host.cleared(CHAT, 11);
    host.cleared('ahp-chat:/two', 12);
    expect(await next.returned(owner, 11, [CHAT])).toBe(true);
    expect(next.of(owner, CHAT)).toBe(0);
    // Who has everything is not worth a window, so that a new one of 0 is none.
    next.note(owner, CHAT, 0, 13);
    host.forget('c');
    expect([host.of(owner, CHAT), await host.returned(owner, 13, [CHAT])]).toEqual([0, true]);
  });
});
