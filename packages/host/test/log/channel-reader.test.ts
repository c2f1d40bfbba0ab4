import type { LogEntry } from '@atrium/core/log/log.js';
import { describe, expect, it } from 'vitest';
import type { ArchiveTable } from '../../src/log-sqlite/archives.js';
import { ChannelReader } from '../../src/log-sqlite/channel-reader.js';
import type { EntryTable } from '../../src/log-sqlite/entries.js';

const CHANNEL = 's';
const PAGE = 1_000;

interface Contents {
  readonly turns?: number;
  readonly archivedAt?: number;
  /** The entries behind the archive. */
  readonly entries?: number;
  /** More of them are stored while the channel is being read. */
  readonly later?: number;
  /** No turn is found. */
  readonly isCut?: boolean;
}

/** A reader over tables that count what is read of them. */
function setUp({ turns = 0, archivedAt, entries = 0, later = 0, isCut = false }: Contents) {
  const reads = { entries: [] as number[], turns: [] as number[] };
  const head = (archivedAt ?? 0) + entries;
  const all = Array.from({ length: entries + later }, (_, index): LogEntry => {
    return { seq: (archivedAt ?? 0) + 1 + index, channel: CHANNEL, time: 0, action: '{}' };
  });
  let onTurns = () => {};
  const reader = new ChannelReader({
    entries: {
      read: ({ after, limit = 0 }: { after: number; limit?: number }) => {
        reads.entries.push(after);
        return all.filter(({ seq }) => seq > after).slice(0, limit);
      },
    } as unknown as EntryTable,
    archives: {
      head: () => (archivedAt === undefined ? undefined : { seq: archivedAt, head: '{}', turnCount: turns }),
      turns: (_channel: string, { start, end, maxBytes }: { start: number; end: number; maxBytes: number }) => {
        expect(maxBytes).toBe(256 * 2 ** 10);
        reads.turns.push(start);
        onTurns();
        return !isCut && start < Math.min(end, turns) ? [{ id: `t${start}`, json: '{}' }] : [];
      },
    } as unknown as ArchiveTable,
    head: () => head,
    isClosed: () => false,
  });
  return { reader, reads, duringTurns: (work: () => void) => (onTurns = work) };
}

describe('reading a channel', () => {
  it.each([
    { entries: 0, pages: [] },
    { entries: 1, pages: [0] },
    { entries: PAGE - 1, pages: [0] },
    { entries: PAGE, pages: [0] },
    { entries: PAGE + 1, pages: [0, PAGE] },
  ])('[REL-058] reads $entries entries in pages behind $pages', async ({ entries, pages }) => {
    const { reader, reads } = setUp({ entries });
    const stored = await reader.read(CHANNEL, 10);
    expect(stored?.tail.map(({ seq }) => seq) ?? []).toEqual(Array.from({ length: entries }, (_, index) => index + 1));
    expect(reads.entries).toEqual(pages);
  });

  it('[CLU-001] gives the archive, the newest turns and what is behind, up to the number at which it began', async () => {
    const { reader, reads } = setUp({ turns: 5, archivedAt: 7, entries: 2, later: 3 });
    expect(await reader.read(CHANNEL, 2)).toEqual({
      seq: 9,
      archive: { seq: 7, head: '{}', turnCount: 5 },
      turns: [
        { id: 't3', json: '{}' },
        { id: 't4', json: '{}' },
      ],
      tail: [expect.objectContaining({ seq: 8 }), expect.objectContaining({ seq: 9 })],
    });
    expect([reads.turns, reads.entries]).toEqual([[3, 4], [7]]);
  });

  it('[CLU-001] finds none where nothing is stored, and one where an archive or an entry is', async () => {
    expect(await setUp({}).reader.read(CHANNEL, 1)).toBeUndefined();
    expect(await setUp({ archivedAt: 0 }).reader.read(CHANNEL, 1)).toMatchObject({ seq: 0, tail: [] });
    expect(await setUp({ entries: 1 }).reader.read(CHANNEL, 1)).toMatchObject({ seq: 1, archive: undefined });
  });

  it('[CLU-001] begins again when its own channel changes, and not when another does', async () => {
    const { reader, reads, duringTurns } = setUp({ turns: 2, archivedAt: 1 });
    let calls = 0;
    duringTurns(() => reader.changed(++calls === 1 ? CHANNEL : 'another'));
    expect((await reader.read(CHANNEL, 2))?.turns).toHaveLength(2);
    expect(reads.turns).toEqual([0, 0, 1]);
  });

  it('says which turn is missing in the log', async () => {
    const { reader } = setUp({ turns: 2, archivedAt: 1, isCut: true });
    await expect(reader.read(CHANNEL, 1)).rejects.toThrow('turn 1 of s is missing');
  });
});
