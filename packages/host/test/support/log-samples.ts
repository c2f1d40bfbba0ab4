/** Entries whose contents follow from their number, so that any process can tell whether they are right. */
import type { Log, LogEntry, Stored } from '@atrium/core/log/log.js';

export const HEAD_RECORD = 'test:head';
export const TURNS_CHANNEL = 'ahp-session:/turns';

export function sampleEntry(seq: number): LogEntry {
  const text = `Grüße ${seq} `.repeat(1 + (seq % 40));
  return { seq, channel: `ahp-session:/${seq % 7}`, time: seq, action: JSON.stringify({ type: 'test', seq, text }) };
}

export function sampleEntries(first: number, last: number): LogEntry[] {
  return Array.from({ length: last - first + 1 }, (_, index) => sampleEntry(first + index));
}

export function appendSamples(log: Log, count: number, durability: 'normal' | 'full' = 'normal'): Promise<Stored> {
  const entries = sampleEntries(log.head + 1, log.head + count);
  return log.append({ entries, durability });
}
