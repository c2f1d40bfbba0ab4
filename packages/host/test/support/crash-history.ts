/** Holds what is left of chats in the end against everything that was ever stored about them. */

import type { LogEntry } from '@atrium/core/log/log.js';
import type { ChatState, StateAction } from '@atrium/protocol/ahp-1';

interface Sent {
  /** How often each turn was started, by chat and id. */
  readonly started: Map<string, number>;
  /** How often each queued message became a turn. */
  readonly queued: Map<string, number>;
  /** Messages that a client took back. */
  readonly removed: Set<string>;
}

export interface HistoryCheck {
  readonly turns: number;
  readonly queued: number;
  readonly problems: readonly string[];
}

export function checkHistory(entries: readonly LogEntry[], chats: ReadonlyMap<string, ChatState>): HistoryCheck {
  const sent = readSent(entries.filter(isLasting(entries)));
  const turns = [...chats].flatMap(([uri, state]) => state.turns.map(({ id }) => `${uri} ${id}`));
  for (const { queuedMessages = [] } of chats.values()) {
    for (const { id } of queuedMessages) count(sent.queued, id);
  }
  // A fork begins with turns that were started elsewhere.
  const isCopy = (turn: string) =>
    !sent.started.has(turn) && chats.get(turn.split(' ')[0] ?? '')?.origin?.kind === 'fork';
  const own = turns.filter((turn) => !isCopy(turn));
  const copies = turns.length - new Set(turns).size;
  const doubled = copies === own.length - new Set(own).size ? [] : ['a fork has a turn twice'];
  const problems = [...doubled, ...turnProblems(own, sent), ...queueProblems(sent)];
  return { turns: turns.length, queued: sent.queued.size, problems };
}

/** Whether an entry is of a channel that was not removed. */
function isLasting(entries: readonly LogEntry[]): (entry: LogEntry) => boolean {
  const removed = new Set(
    entries.flatMap(({ action }) =>
      action.includes('"session/chatRemoved"') ? (JSON.parse(action) as { chat: string }).chat : [],
    ),
  );
  return ({ channel }) => !removed.has(channel);
}

function readSent(entries: readonly LogEntry[]): Sent {
  const sent: Sent = { started: new Map(), queued: new Map(), removed: new Set() };
  for (const { channel, action, origin } of entries) {
    if (/"chat\/(turnStarted|pendingMessage)/.test(action))
      note(sent, channel, JSON.parse(action), origin !== undefined);
  }
  return sent;
}

function note({ started, queued, removed }: Sent, channel: string, action: StateAction, isFromClient: boolean): void {
  if (action.type === 'chat/pendingMessageSet') count(queued, action.id, 0);
  if (action.type === 'chat/pendingMessageRemoved' && isFromClient) removed.add(action.id);
  if (action.type !== 'chat/turnStarted') return;
  count(started, `${channel} ${action.turnId}`);
  if (action.queuedMessageId) count(queued, action.queuedMessageId);
}

function turnProblems(turns: readonly string[], { started }: Sent): string[] {
  const there = new Map<string, number>();
  for (const turn of turns) count(there, turn);
  return [...new Set([...there.keys(), ...started.keys()])].flatMap((turn) => {
    const [starts = 0, times = 0] = [started.get(turn), there.get(turn)];
    return starts === 1 && times === 1 ? [] : `turn ${turn} was started ${starts} times and is there ${times} times`;
  });
}

function queueProblems({ queued, removed }: Sent): string[] {
  return [...queued].flatMap(([id, times]) => {
    const wanted = removed.has(id) ? 0 : 1;
    return times === wanted ? [] : `queued message ${id} is there ${times} times, not ${wanted}`;
  });
}

function count(counts: Map<string, number>, key: string, by = 1): void {
  counts.set(key, (counts.get(key) ?? 0) + by);
}
