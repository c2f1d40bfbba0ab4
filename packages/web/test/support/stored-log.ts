/** A log with one session that has been worked in for long. */
import { MemoryLog } from '@atrium/host';
import type { Turn } from '@atrium/protocol/ahp-1';
import { puppetSession } from './puppet-host.js';

export async function storedLog(title: string, count: number, turn: (index: number) => Turn): Promise<MemoryLog> {
  const log = new MemoryLog();
  const { session, chat, summary } = puppetSession({ title });
  const items = Array.from({ length: count }, (_, index) => turn(index)).map((each) => {
    return { id: each.id, json: JSON.stringify(each) };
  });
  await log.append({
    entries: [],
    archives: [
      { channel: summary.resource, head: JSON.stringify(session), turns: { start: 0, items: [] } },
      { channel: chat.resource, head: JSON.stringify(chat), turns: { start: 0, items } },
    ],
    records: [{ key: `session:${summary.resource}`, value: JSON.stringify({ summary, lifecycle: session.lifecycle }) }],
    durability: 'full',
  });
  return log;
}
