/** Opening and deleting chats of a session. */
import type { ChatSource, Message } from '@atrium/protocol/ahp-1';
import type { OpenSession } from '../host/open-session.js';
import { problemText } from '../host/problem.js';
import { goTo } from '../host/router.js';
import { tell } from '../ui/notices.js';

/** Opens a chat and goes there: an empty one, or one that branches off from another. */
export async function openChat(session: OpenSession, source?: ChatSource, initialMessage?: Message): Promise<void> {
  try {
    const chat = await session.client.createChat(session.uri, {
      ...(source && { source }),
      ...(initialMessage && { initialMessage }),
    });
    goTo({ at: 'session', uri: session.uri, chat });
  } catch (error) {
    tell(problemText(error));
  }
}

export async function deleteChat(session: OpenSession): Promise<void> {
  try {
    await session.client.disposeChat(session.chatUri);
    goTo({ at: 'session', uri: session.uri });
    tell('The chat is deleted.');
  } catch (error) {
    tell(problemText(error));
  }
}

/** Longer selections are cut: the agent knows the whole turn anyway. */
const SELECTION_MAX_CHARACTERS = 4_000;

/** What the person has selected in the conversation, if anything. */
export function selectedText(): string {
  const selection = getSelection();
  const anchor = selection?.anchorNode;
  const element = anchor instanceof Element ? anchor : anchor?.parentElement;
  if (!selection || !element?.closest('.timeline')) return '';
  return selection.toString().trim().slice(0, SELECTION_MAX_CHARACTERS);
}
