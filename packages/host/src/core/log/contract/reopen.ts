/** The contract of a log that keeps: closed and opened again, everything is as it was. */
import { append, appendMany, CHANNEL, type ContractApi, entry, type OpenLog, OTHER, sentBy, turns } from './support.js';

export function reopenContract({ describe, it, expect }: ContractApi, open: OpenLog): void {
  describe('opened again', () => {
    it('[REL-016] has everything it had, and goes on counting', async () => {
      const { log, reopen } = await open();
      if (reopen === undefined) return log.close();
      await appendMany(log, 10, (seq) => sentBy('c1', seq));
      const archive = { channel: CHANNEL, seq: 8, head: '{"a":1}', turns: { start: 0, items: turns(0, 3) } };
      await append(log, { archives: [archive], records: [{ key: 'k', value: '1' }], durability: 'full' });
      await log.compact({ upTo: 6, keep: 0 });
      const again = await reopen();
      expect([again.head, again.oldest, again.repairs]).toEqual([10, 7, []]);
      expect(await again.read({ after: 9 })).toEqual([entry(10, sentBy('c1', 10))]);
      expect(await again.archiveHead(CHANNEL)).toEqual({ seq: 8, head: '{"a":1}', turnCount: 3 });
      expect(await again.record('k')).toBe('1');
      expect((await again.clientSeqs('c1', 1, 0)).length).toBe(10);
      await appendMany(again, 1);
      expect(again.head).toBe(11);
      await again.close();
    });

    it('[REL-016] remembers the head when every entry is gone', async () => {
      const { log, reopen } = await open();
      if (reopen === undefined) return log.close();
      await appendMany(log, 4, () => ({ channel: OTHER }));
      await append(log, { archives: [{ channel: OTHER, seq: 4, head: '{}', turns: { start: 0, items: [] } }] });
      await log.compact({ upTo: 4, keep: 0 });
      const again = await reopen();
      expect([again.head, again.oldest]).toEqual([4, 5]);
      await again.close();
    });
  });
}
