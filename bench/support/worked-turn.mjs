import { numbersFrom, piecesOf } from './written-text.mjs';

/**
 * What a coding agent does: it looks, runs, edits, and says what it did. About 6 kB.
 * @param {number} index
 */
export function workedTurn(index) {
  const next = numbersFrom(index + 1);
  const id = (/** @type {string} */ kind) => `${kind}-${index}-${next().toString(16)}`;
  const call = () => ({
    kind: 'toolCall',
    toolCall: {
      status: 'completed',
      ...{ toolCallId: id('c'), toolName: 'read_file', displayName: 'Read a file', confirmed: 'not-needed' },
      ...{ invocationMessage: 'Reading a file', pastTenseMessage: 'Read a file', success: true },
      toolInput: JSON.stringify({ path: `src/part-${next() % 100}.ts`, from: next() % 400 }),
      content: [{ type: 'text', text: piecesOf(next, 2 + (next() % 3)) }],
    },
  });
  return {
    id: id('t'),
    startedAt: new Date(index * 60_000).toISOString(),
    duration: 1_000 + (next() % 60_000),
    message: { text: `Question ${index}: ${piecesOf(next, 1).slice(0, 300)}`, origin: { kind: 'user' } },
    responseParts: [
      { kind: 'reasoning', id: id('r'), content: piecesOf(next, 1).slice(0, 400) },
      ...Array.from({ length: 1 + (next() % 6) }, call),
      { kind: 'markdown', id: id('m'), content: `${piecesOf(next, 1 + (next() % 3))}\n\nAnswer ${index}.` },
    ],
    usage: { inputTokens: 900 + (next() % 9_000), outputTokens: next() % 900 },
    state: 'complete',
  };
}
