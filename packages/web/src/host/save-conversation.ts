/** Saves a conversation as a Markdown file, in the browser's download folder. */
import { conversationMarkdown } from '@atrium/protocol/ahp-1';
import type { OpenSession } from './open-session.js';

/** How much of the title goes into the name of the file. */
const NAME_MAX_CHARACTERS = 60;
const OLDER_AT_ONCE = 500;

/** Loads older turns first. Resolves with the name of the file. */
export async function saveConversation(session: OpenSession, name = ''): Promise<string> {
  while (session.view.get().older.isAny) {
    const before = session.chat.turns.length;
    await session.loadOlder(OLDER_AT_ONCE);
    if (session.chat.turns.length === before) throw new Error('the host does not send the older turns: try it again');
  }
  const { title } = session.state;
  const text = conversationMarkdown(title, session.chat.turns);
  const plain = title.replaceAll(/[^\p{L}\p{N}]+/gu, '-').slice(0, NAME_MAX_CHARACTERS);
  const link = document.createElement('a');
  link.href = URL.createObjectURL(new Blob([text], { type: 'text/markdown' }));
  link.download = name || `${plain || 'conversation'}.md`;
  link.click();
  URL.revokeObjectURL(link.href);
  return link.download;
}
