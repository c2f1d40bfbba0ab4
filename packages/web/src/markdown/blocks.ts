/**
 * Markdown as a list of blocks. If text was only added, all blocks but the last stay the same, so that a long answer
 * costs no more
 * per frame than a short one.
 */
import type { Token } from 'marked';
import { marked } from './syntax.js';

export type Block =
  | { readonly kind: 'code'; readonly text: string; readonly language: string; readonly isOpen: boolean }
  | { readonly kind: 'html'; readonly token: Token };

interface Entry {
  readonly start: number;
  readonly block: Block;
}

export class BlockReader {
  #text = '';
  #entries: readonly Entry[] = [];
  #blocks: readonly Block[] = [];

  read(text: string): readonly Block[] {
    if (text === this.#text) return this.#blocks;
    const isLonger = text.startsWith(this.#text);
    const kept = isLonger ? this.#entries.slice(0, -1) : [];
    const from = isLonger ? (this.#entries.at(-1)?.start ?? 0) : 0;
    this.#text = text;
    this.#entries = [...kept, ...entriesOf(text.slice(from), from)];
    this.#blocks = this.#entries.map(({ block }) => block);
    return this.#blocks;
  }
}

function entriesOf(text: string, offset: number): Entry[] {
  const entries: Entry[] = [];
  let start = offset;
  for (const token of marked.lexer(text)) {
    if (token.type !== 'space' && token.type !== 'def') entries.push({ start, block: blockOf(token) });
    start += token.raw.length;
  }
  return entries;
}

const FENCED = /^ {0,3}(?:`{3,}|~{3,})/;
const CLOSED = /^ {0,3}(`{3,}|~{3,})[^\n]*\n(?:[\s\S]*\n)? {0,3}\1[`~]*$/;

function blockOf(token: Token): Block {
  if (token.type !== 'code') return { kind: 'html', token };
  const isOpen = FENCED.test(token.raw) && !CLOSED.test(token.raw.trimEnd());
  return { kind: 'code', text: token.text, language: languageOf(token.lang), isOpen };
}

/** ` ```ts title="x" ` is TypeScript. */
function languageOf(info: unknown): string {
  return typeof info === 'string' ? (/^[\w+#-]+/.exec(info)?.[0].toLowerCase() ?? '') : '';
}
