/** A plan that a person is asked about, as people read it: only where formatting hides nothing of what is written. */
import { isVisible } from '@atrium/protocol/ahp-1';
import { renderMarkdown } from '../text/markdown.js';
import { PLAIN } from '../text/style.js';
import type { ViewOptions } from './call-view.js';

/** Wide enough that nothing is broken or cut. */
const WHOLE_COLUMNS = 100_000;
/** The number or the box of an item, which a list shows by itself. */
const LIST_MARK = /^[ \t>]*(?:[-*+]|\d{1,9}[.)])[ \t]+(?:\[[ xX]\][ \t]+)?/gm;

/** Undefined where it has to be read as it is written. */
export function planLines(plan: string, { style, columns }: ViewOptions): string[] | undefined {
  if (!isVisible(plan, 'lines')) return undefined;
  const whole = renderMarkdown(plan, { style: PLAIN, columns: WHOLE_COLUMNS }).join('\n');
  if (wordsOf(whole.replace(LIST_MARK, '')) !== wordsOf(plan.replace(LIST_MARK, ''))) return undefined;
  return renderMarkdown(plan, { style, columns: columns - 2 }).map((line) => `  ${line}`.trimEnd());
}

/** Everything that can be read aloud, without the marks of formatting. */
function wordsOf(text: string): string {
  return (text.match(/[\p{L}\p{N}]+/gu) ?? []).join('').toLowerCase();
}
