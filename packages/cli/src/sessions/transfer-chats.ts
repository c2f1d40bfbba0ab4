/** The chats of a session beside its default one, in the file of an export: listed in the header, with a line for each turn. */
import { randomUUID } from 'node:crypto';
import { type ChatSummary, defaultChatUri, type Turn } from '@atrium/protocol/ahp-1';

/** A chat as the header lists it. */
export interface ListedChat extends ChatSummary {
  /** How many turns of the chat follow. */
  readonly turns: number;
  /** How many turns follow that only its agent knows; since version 4. */
  readonly context?: number;
}

/** A line of the file. */
export interface ChatTurn {
  readonly chat: string;
  readonly turn: Turn;
}

/** A line of the file: a turn that the agent of a side chat knows and people do not see. */
export interface ContextTurn {
  readonly context: string;
  readonly turn: Turn;
}

export function isContextTurn(line: unknown): line is ContextTurn {
  return typeof line === 'object' && line !== null && 'context' in line && 'turn' in line;
}

export function isChatTurn(line: unknown): line is ChatTurn {
  return typeof line === 'object' && line !== null && 'chat' in line && 'turn' in line;
}

interface Move {
  readonly chats: readonly ListedChat[];
  /** The default chat of the old session, and the new session. */
  readonly from: string;
  readonly to: string;
}

/** Chats get new names in an import. Replaces the old names in turns and origins. */
export function renamed<Value>(
  value: Value,
  { chats, from, to }: Move,
): { readonly value: Value; readonly names: ReadonlyMap<string, string> } {
  const names = new Map(chats.map(({ resource }) => [resource, `ahp-chat:/${randomUUID()}`]));
  if (names.size === 0) return { value, names };
  let text = JSON.stringify(value);
  for (const [old, name] of [...names, [from, defaultChatUri(to)] as const])
    text = text.replaceAll(JSON.stringify(old), JSON.stringify(name));
  return { value: JSON.parse(text) as Value, names };
}
