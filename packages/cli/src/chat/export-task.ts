/** `/export`: the conversation to a file of this machine, as Markdown, or the whole session as `atrium sessions export` does. */
import path from 'node:path';
import { conversationMarkdown } from '@atrium/protocol/ahp-1';
import { exportLines, readChat, writeNew } from '../sessions/transfer.js';
import { printable } from '../text/printable.js';
import type { Task } from './tasks.js';

/** How much of the title goes into the name of the file. */
const NAME_MAX_CHARACTERS = 60;

export function exportHere(words: string): Task {
  return async ({ client, open, note }) => {
    const { session } = open;
    const file = path.resolve(words === '' ? `${fileName(session.state.title)}.md` : words);
    if (file.endsWith('.jsonl')) {
      const summary = (await client.listSessions()).find(({ resource }) => resource === session.uri);
      if (!summary) return note('Not done: the session is not on the list of its host.');
      await writeNew(file, exportLines(client, summary));
    } else {
      const { turns } = await readChat(client, open.chat.uri);
      await writeNew(file, [conversationMarkdown(session.state.title, turns)]);
    }
    note(`Saved to ${printable(file)}`);
  };
}

/** A name that every file system accepts. */
export function fileName(title: string): string {
  const plain = title.replaceAll(/[^\p{L}\p{N}]+/gu, '-').replaceAll(/^-+|-+$/g, '');
  return plain.slice(0, NAME_MAX_CHARACTERS) || 'conversation';
}
