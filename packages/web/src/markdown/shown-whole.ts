/**
 * Whether formatted Markdown shows all of what is written. Comments, addresses behind words, cells beyond the last column and the like
 * are there for a model and not for a reader; whoever agrees to a text must see them.
 */
import { isVisible } from '@atrium/protocol/ahp-1';
import { type Block, BlockReader } from './blocks.js';
import { blockHtml } from './to-html.js';

export function isShownWhole(text: string): boolean {
  if (!isVisible(text, 'lines')) return false;
  const blocks = new BlockReader().read(text);
  if (blocks.some(isDrawn)) return false;
  return wordsOf(text.replace(LIST_MARK, '')) === wordsOf(blocks.map(textOf).join(' '));
}

/** The number or the box of an item, which a list shows by itself. */
const LIST_MARK = /^[ \t>]*(?:[-*+]|\d{1,9}[.)])[ \t]+(?:\[[ xX]\][ \t]+)?/gm;
const DRAWN = new Set(['math', 'mermaid']);

/** As a picture, not as the text that is written. */
function isDrawn(block: Block): boolean {
  return block.kind === 'code' ? DRAWN.has(block.language) : blockHtml(block.token).includes('data-math=');
}

function textOf(block: Block): string {
  if (block.kind === 'code') return `${block.language} ${block.text}`;
  return new DOMParser().parseFromString(blockHtml(block.token), 'text/html').body.textContent ?? '';
}

/** Everything that can be read aloud, without the marks of formatting. */
function wordsOf(text: string): string {
  return (text.match(/[\p{L}\p{N}]+/gu) ?? []).join('').toLowerCase();
}
