/** Puts a session with many finished turns straight into a log, as if it had been worked in for weeks. */
import { tmpdir } from 'node:os';
import { pathToFileURL } from 'node:url';

export const BENCH_SESSION = 'ahp-session:/stored';

export function finishedTurn(index) {
  const content = `Answer ${index}. ${'The parser reads one token at a time and never looks back. '.repeat(8)}`;
  return {
    id: `t${index}`,
    userMessage: { text: `Question ${index}: how does the parser go on?` },
    responseParts: [
      { kind: 'reasoning', id: `r${index}`, content: 'First the grammar, then the lexer.' },
      { kind: 'markdown', id: `m${index}`, content },
    ],
    usage: { inputTokens: 900, outputTokens: 120 },
    state: 'complete',
  };
}

export function sessionHead(resource, index = 0) {
  return {
    summary: {
      resource,
      provider: 'mock',
      title: `Session ${index}`,
      status: 1,
      createdAt: index,
      modifiedAt: index,
      // A folder that is there: a turn in one that is gone is refused.
      workingDirectory: pathToFileURL(tmpdir()).href,
    },
    lifecycle: 'ready',
    turns: [],
    config: { schema: { type: 'object', properties: {} }, values: {} },
  };
}

export async function storeSession(log, turnCount, resource = BENCH_SESSION, makeTurn = finishedTurn) {
  const head = sessionHead(resource);
  const items = Array.from({ length: turnCount }, (_, index) => {
    const turn = makeTurn(index);
    return { id: turn.id, json: JSON.stringify(turn) };
  });
  await log.append({
    entries: [],
    archives: [{ channel: resource, head: JSON.stringify(head), turns: { start: 0, items } }],
    records: [recordOf(head)],
    durability: 'full',
  });
}

export function recordOf({ summary, lifecycle }) {
  return { key: `session:${summary.resource}`, value: JSON.stringify({ summary, lifecycle }) };
}
