import { describe, expect, it } from 'vitest';
import {
  COMPACT_EVERY_CHARACTERS,
  COMPACT_EVERY_ENTRIES,
  COMPACT_SESSIONS_MAX,
  Compaction,
} from '../../src/log/compaction.js';
import { MemoryLog } from '../../src/log/memory-log.js';
import type { Logger } from '../../src/util/logger.js';

const KEEP = 10;

/** A log of which compaction sees the numbers only: it drops an entry once its channel is archived. */
function setUp({ canArchive = true } = {}) {
  const log = new MemoryLog();
  const archived: string[] = [];
  const warnings: string[] = [];
  const compacted: object[] = [];
  const compact = log.compact.bind(log);
  log.compact = async (options) => {
    compacted.push(options);
    await compact(options);
  };
  const logger: Logger = { log: (level, message) => void (level === 'warn' && warnings.push(message)) };
  const storeArchive = async (channel: string) => {
    archived.push(channel);
    if (!canArchive) return false;
    const archives = [{ channel, head: '{}', turns: { start: 0, items: [] } }];
    await log.append({ entries: [], archives, durability: 'normal' });
    return true;
  };
  const append = async (count: number, channel = (_index: number) => 's') => {
    const entries = Array.from({ length: count }, (_, index) => ({ channel: channel(index), time: 0, action: '{}' }));
    return log.append({ entries, durability: 'normal' });
  };
  const compaction = new Compaction({ log, logger, keep: KEEP, storeArchive });
  return { log, archived, warnings, compacted, append, compaction };
}

const settled = () => new Promise((resolve) => setTimeout(resolve, 5));

describe('compaction', () => {
  it('runs when the numbers pass the next ten thousand, and not before', async () => {
    const { append, compaction, compacted } = setUp();
    compaction.stored(await append(COMPACT_EVERY_ENTRIES - 1));
    await settled();
    expect(compacted).toEqual([]);
    compaction.stored(await append(1));
    await settled();
    expect(compacted[0]).toEqual({ upTo: COMPACT_EVERY_ENTRIES - KEEP, keep: KEEP });
    compacted.length = 0;
    compaction.stored(await append(1));
    await settled();
    expect(compacted).toEqual([]);
  });

  it('[UP-197] [REL-098] runs when much was stored, as with a draft that changes with every key', async () => {
    const { append, compaction, compacted } = setUp();
    const store = async (...lengths: number[]) => {
      const entries = lengths.map((length) => ({ action: 'x'.repeat(length) }));
      compaction.stored({ ...(await append(lengths.length)), entries });
      await settled();
      return compacted.length > 0;
    };
    const half = COMPACT_EVERY_CHARACTERS / 2;
    expect([await store(half), await store(half), await store(1)]).toEqual([false, false, true]);
    compacted.length = 0;
    // It counts anew from there.
    expect([await store(half, half), await store(1)]).toEqual([false, true]);
  });

  it('archives the sessions whose entries hold others back, the oldest first', async () => {
    const { log, append, compaction, archived } = setUp();
    compaction.stored(await append(COMPACT_EVERY_ENTRIES, (index) => (index < 3 ? 'old' : 'new')));
    await expect.poll(() => log.oldest).toBe(COMPACT_EVERY_ENTRIES - KEEP + 1);
    expect(archived).toEqual(['old', 'new']);
  });

  it('archives a session also for the last entry that may go', async () => {
    const { log, append, compaction, archived } = setUp();
    const last = COMPACT_EVERY_ENTRIES - KEEP;
    compaction.stored(await append(COMPACT_EVERY_ENTRIES, (index) => (index + 1 === last ? 'old' : 'new')));
    await expect.poll(() => log.oldest).toBe(last + 1);
    expect(archived).toEqual(['new', 'old']);
  });

  it('leaves everything that a session needs which cannot be archived', async () => {
    const { log, append, compaction, archived, warnings } = setUp({ canArchive: false });
    compaction.stored(await append(COMPACT_EVERY_ENTRIES));
    await settled();
    expect([archived, log.oldest, warnings]).toEqual([['s'], 1, []]);
  });

  it(`opens no more than ${COMPACT_SESSIONS_MAX} sessions at a time`, async () => {
    const { append, compaction, archived } = setUp();
    compaction.stored(await append(COMPACT_EVERY_ENTRIES, (index) => `s${index}`));
    await expect.poll(() => archived.length).toBe(COMPACT_SESSIONS_MAX);
    await settled();
    expect(archived.length).toBe(COMPACT_SESSIONS_MAX);
  });

  it('does not run twice at once, says when it fails, and runs again later', async () => {
    const { log, append, compaction, warnings, compacted } = setUp();
    const compact = log.compact;
    log.compact = async () => {
      throw new Error('the disk is full');
    };
    const stored = await append(COMPACT_EVERY_ENTRIES);
    compaction.stored(stored);
    compaction.stored(stored);
    await settled();
    expect(warnings).toEqual(['could not compact the log']);
    log.compact = compact;
    compaction.stored(await append(COMPACT_EVERY_ENTRIES));
    await settled();
    expect(compacted.length).toBeGreaterThan(0);
  });
});
