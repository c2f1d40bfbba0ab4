/** A turn as text, for terminals and files: who said what, and which tools ran. */
import type { ResponsePart, ToolCallState, Turn } from '@atrium/protocol';
import { renderMarkdown } from '../text/markdown.js';
import { printableLines } from '../text/printable.js';
import { COLOURED, type Style } from '../text/style.js';
import { outputText, plain } from './turns.js';

/** Of the output of a tool, the last lines say most. */
const OUTPUT_LINES_MAX = 12;

export interface TranscriptOptions {
  readonly style: Style;
  readonly columns: number;
}

export function turnText({ userMessage, responseParts, state, error }: Turn, options: TranscriptOptions): string {
  const { style } = options;
  const said = printableLines(userMessage.text).split('\n');
  return [
    ...said.map((line, index) => style.bold(`${index === 0 ? '> ' : '  '}${line}`)),
    '',
    ...responseParts.flatMap((part) => partLines(part, options)),
    ...(state === 'error' ? [style.red(`error: ${printableLines(error?.message ?? '')}`), ''] : []),
    ...(state === 'cancelled' ? [style.dim('(stopped)'), ''] : []),
  ].join('\n');
}

function partLines(part: ResponsePart, options: TranscriptOptions): string[] {
  const { style } = options;
  if (part.kind === 'markdown') return [...markdownLines(part.content, options), ''];
  if (part.kind === 'reasoning') return [...dimmed(part.content, style), ''];
  if (part.kind === 'systemNotification') return [...dimmed(plain(part.content), style), ''];
  return part.kind === 'toolCall' ? [...callLines(part.toolCall, style), ''] : [];
}

/** In a file it stays Markdown. */
function markdownLines(text: string, { style, columns }: TranscriptOptions): string[] {
  return style === COLOURED ? renderMarkdown(text, { style, columns }) : printableLines(text).split('\n');
}

function callLines(call: ToolCallState, style: Style): string[] {
  const isDone = call.status === 'completed';
  const mark = isDone ? (call.success ? style.green('✓') : style.red('✗')) : style.dim('–');
  const message = printableLines(plain(isDone ? call.pastTenseMessage : call.invocationMessage));
  const output = printableLines(outputText(call)).trimEnd().split('\n').filter(Boolean).slice(-OUTPUT_LINES_MAX);
  return [`${mark} ${style.bold(call.displayName)} ${message}`, ...output.map((line) => style.dim(`  ${line}`))];
}

function dimmed(text: string, style: Style): string[] {
  return printableLines(text)
    .trim()
    .split('\n')
    .map((line) => style.dim(line));
}
