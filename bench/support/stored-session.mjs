/** Puts a session with many finished turns straight into a log, as if it had been worked in for weeks. */
import { tmpdir } from 'node:os';
import { pathToFileURL } from 'node:url';
import { defaultChatUri } from '@atrium/protocol/ahp-1';

export const BENCH_SESSION = 'ahp-session:/stored';

export function finishedTurn(index) {
  const content = `Answer ${index}. ${'The parser reads one token at a time and never looks back. '.repeat(8)}`;
  return {
    id: `t${index}`,
    startedAt: new Date(index).toISOString(),
    duration: 1_000,
    message: { text: `Question ${index}: how does the parser go on?`, origin: { kind: 'user' } },
    responseParts: [
      { kind: 'reasoning', id: `r${index}`, content: 'First the grammar, then the lexer.' },
      { kind: 'markdown', id: `m${index}`, content },
    ],
    usage: { inputTokens: 900, outputTokens: 120 },
    state: 'complete',
  };
}

/** A session without turns: its state, that of its chat, and its summary. */
export function sessionHead(resource, index = 0) {
  const modifiedAt = new Date(index).toISOString();
  const defaultChat = defaultChatUri(resource);
  // A folder that is there: a turn in one that is gone is refused.
  const workingDirectories = [pathToFileURL(tmpdir()).href];
  const known = { provider: 'mock', title: `Session ${index}`, status: 1, workingDirectories };
  const chat = { resource: defaultChat, title: '', status: 1, modifiedAt };
  return {
    session: {
      ...known,
      lifecycle: 'ready',
      activeClients: [],
      chats: [chat],
      defaultChat,
      config: { schema: { type: 'object', properties: {} }, values: {} },
    },
    chat: { ...chat, turns: [] },
    summary: { ...known, resource, createdAt: modifiedAt, modifiedAt, defaultChat },
  };
}

/** What the log holds of a session: one text for each of its channels. */
export function archivesOf({ session, chat, summary }, items = []) {
  return [
    { channel: summary.resource, head: JSON.stringify(session), turns: { start: 0, items: [] } },
    { channel: chat.resource, head: JSON.stringify(chat), turns: { start: 0, items } },
  ];
}

export async function storeSession(log, turnCount, resource = BENCH_SESSION, makeTurn = finishedTurn) {
  const head = sessionHead(resource);
  const items = Array.from({ length: turnCount }, (_, index) => {
    const turn = makeTurn(index);
    return { id: turn.id, json: JSON.stringify(turn) };
  });
  await log.append({
    entries: [],
    archives: archivesOf(head, items),
    records: [recordOf(head)],
    durability: 'full',
  });
}

export function recordOf({ summary, session: { lifecycle } }) {
  return { key: `session:${summary.resource}`, value: JSON.stringify({ summary, lifecycle }) };
}
