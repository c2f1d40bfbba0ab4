/** The message of a command: from its arguments, from standard input, or from both. */
import { UsageError } from '../exit.js';
import type { Io } from '../io.js';

/** A message is something that somebody wrote; whole files are read by tools. */
const PROMPT_MAX_BYTES = 1_000_000;

export async function readPrompt(words: readonly string[], input: Io['stdin']): Promise<string> {
  const typed = words.filter((word) => word !== '-').join(' ');
  const wantsInput = words.includes('-') || (words.length === 0 && !input.isTTY);
  const piped = wantsInput ? await readAll(input) : '';
  const text = [typed, piped].filter((part) => part.trim() !== '').join('\n\n');
  if (text !== '') return text;
  throw new UsageError('there is no message. Give one: atrium run "why is the build red?"');
}

async function readAll(input: Io['stdin']): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of input) {
    bytes += chunk.length;
    if (bytes > PROMPT_MAX_BYTES) throw new UsageError(`the message is longer than ${PROMPT_MAX_BYTES} bytes`);
    chunks.push(Buffer.from(chunk));
  }
  return Buffer.concat(chunks).toString('utf8').trimEnd();
}
