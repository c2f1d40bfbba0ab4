/** The beginning and the end of a turn on the screen. */
import type { Turn, UserMessage } from '@atrium/protocol';
import { printable, printableLines } from '../text/printable.js';
import { wrap } from '../text/width.js';
import type { ViewOptions } from './call-view.js';

/** What somebody pasted need not be shown whole. */
const MESSAGE_LINES_MAX = 30;

export function messageLines({ text, attachments = [] }: UserMessage, { style, columns }: ViewOptions): string[] {
  const all = printableLines(text)
    .split('\n')
    .flatMap((line) => wrap(line, columns - 2));
  const shown = all.slice(0, MESSAGE_LINES_MAX);
  const hidden = all.length - shown.length;
  return [
    ...shown.map((line, index) => `${style.bold(style.green(index === 0 ? '> ' : '  '))}${style.bold(line)}`),
    ...(hidden > 0 ? [style.dim(`  … ${hidden} more lines`)] : []),
    ...attachments.map(({ label }) => style.dim(`  + ${printable(label)}`)),
    '',
  ];
}

export function endLines({ state, error, usage }: Turn, { style, columns }: ViewOptions): string[] {
  if (state === 'cancelled') return [style.yellow('Stopped.'), ''];
  if (state === 'error') {
    const lines = wrap(`✗ ${printable(error?.message ?? 'The turn failed.')}`, columns);
    return [...lines.map((line) => style.red(line)), ''];
  }
  const spent = usage && [
    ...(usage.model === undefined ? [] : [printable(usage.model)]),
    ...(usage.inputTokens === undefined ? [] : [`${usage.inputTokens} tokens in`]),
    ...(usage.outputTokens === undefined ? [] : [`${usage.outputTokens} out`]),
  ];
  return spent && spent.length > 0 ? [style.dim(spent.join(' · ')), ''] : [];
}
