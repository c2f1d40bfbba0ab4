/**
 * Tells whether formatted Markdown shows the whole text. Comments, titles of links, cells beyond the last column and the
 * like reach a model but not a reader, and people who agree to a text must see them.
 */
import { isVisible } from '@atrium/protocol/ahp-1';
import { withAddresses } from './addresses.js';
import { type Block, BlockReader } from './blocks.js';
import { blockHtml } from './to-html.js';

export function isShownWhole(text: string): boolean {
  if (!isVisible(text, 'lines')) return false;
  const blocks = new BlockReader().read(text);
  if (blocks.some(isDrawn)) return false;
  return wordsOf(text.replace(LIST_MARK, '')) === wordsOf(blocks.map(textOf).join(' '));
}

/** The number or the box of an item, which the list draws by itself. */
const LIST_MARK = /^[ \t>]*(?:[-*+]|\d{1,9}[.)])[ \t]+(?:\[[ xX]\][ \t]+)?/gm;
const DRAWN = new Set(['math', 'mermaid']);

/** True for a block that appears as a picture and not as its text. */
function isDrawn(block: Block): boolean {
  return block.kind === 'code' ? DRAWN.has(block.language) : blockHtml(block.token).includes('data-math=');
}

function textOf(block: Block): string {
  if (block.kind === 'code') return `${block.language} ${block.text}`;
  return new DOMParser().parseFromString(blockHtml(withAddresses(block.token)), 'text/html').body.textContent ?? '';
}

/** The readable words, without the marks of formatting. */
function wordsOf(text: string): string {
  return (text.match(/[\p{L}\p{N}]+/gu) ?? []).join('').toLowerCase();
}
