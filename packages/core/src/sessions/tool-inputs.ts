/** Reads tool input that clients got by reference, from the chat that holds it, running or finished. */
import { INPUT_SCHEME, inputIn, type NamedInput, namedInput } from '../tool-calls/input-references.js';
import type { Chat } from './chat.js';

/** Makes the reader. Anyone who may subscribe to a chat may read its input; a chat that is gone has none. */
export function inputReader(chats: { openChat(uri: string): Promise<Chat | undefined> }) {
  return {
    scheme: INPUT_SCHEME,
    async read(uri: string) {
      const named = namedInput(uri);
      const chat = named && (await chats.openChat(named.chat));
      const text = chat && (await inputOf(chat, named));
      return text === undefined ? undefined : { bytes: Buffer.from(text), contentType: 'text/plain' };
    },
  };
}

async function inputOf(chat: Chat, named: NamedInput): Promise<string | undefined> {
  const { activeTurn } = chat.committed;
  if (activeTurn?.id === named.turnId) return inputIn(activeTurn, named);
  const index = await chat.indexOfTurn(named.turnId);
  const [turn] = index === undefined ? [] : await chat.turnsBetween(index, index + 1);
  return turn && inputIn(turn, named);
}
