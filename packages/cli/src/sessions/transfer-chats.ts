/** The chats of a session beside its default one, in the file of an export: listed in the header, with a line for each turn. */
import { randomUUID } from 'node:crypto';
import { type Client, RequestError } from '@atrium/client';
import { defaultChatUri } from '@atrium/protocol/ahp-1';
import { callRaw } from '../connect/with-client.js';

/** A chat as the header lists it; the host that exported it and the one that imports it know the other members. */
export interface ListedChat {
  readonly resource: string;
  /** How many of its turns follow. */
  readonly turns: number;
}

/** A line of the file. */
export interface ChatTurn {
  readonly chat: string;
  readonly turn: { readonly id: string };
}

export function isChatTurn(line: unknown): line is ChatTurn {
  return typeof line === 'object' && line !== null && 'chat' in line && 'turn' in line;
}

/** Turns of one answer: some are large. */
const PAGE_TURNS = 20;

/** A host of an earlier version has none. */
export async function readChats(client: Client, channel: string): Promise<readonly ListedChat[]> {
  try {
    const { chats } = (await callRaw(client, 'atrium/chats', { channel })) as { readonly chats: readonly ListedChat[] };
    return chats;
  } catch (error) {
    if (error instanceof RequestError) return [];
    throw error;
  }
}

export async function* chatTurns(client: Client, chats: readonly ListedChat[]): AsyncGenerator<ChatTurn[]> {
  for (const { resource: chat, turns: total } of chats) {
    for (let start = 0; start < total; start += PAGE_TURNS) {
      const range = { start, end: Math.min(total, start + PAGE_TURNS) };
      const page = (await callRaw(client, 'atrium/chatTurns', { channel: chat, ...range })) as {
        turns: ChatTurn['turn'][];
      };
      if (page.turns.length !== range.end - range.start) throw new Error('history was cut meanwhile: export it again');
      yield page.turns.map((turn) => ({ chat, turn }));
    }
  }
}

/** Chats are imported under new names. What names them in turns and origins is written anew. */
export function renamed<Value>(
  value: Value,
  chats: readonly ListedChat[],
  { from, to }: { readonly from: string; readonly to: string },
): { readonly value: Value; readonly names: ReadonlyMap<string, string> } {
  const names = new Map(chats.map(({ resource }) => [resource, `ahp-chat:/${randomUUID()}`]));
  if (names.size === 0) return { value, names };
  let text = JSON.stringify(value);
  for (const [old, name] of [...names, [defaultChatUri(from), defaultChatUri(to)] as const])
    text = text.replaceAll(JSON.stringify(old), JSON.stringify(name));
  return { value: JSON.parse(text) as Value, names };
}
