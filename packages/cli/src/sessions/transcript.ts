/** A turn as text, for terminals and files: who said what, and which tools ran. */
import { type ResponsePart, steeringIn, type ToolCallState, type UserMessage } from '@atrium/protocol';
import { renderMarkdown } from '../text/markdown.js';
import { printableLines } from '../text/printable.js';
import { COLOURED, type Style } from '../text/style.js';
import { type AnyTurn, isOver, outputText, plain } from './turns.js';

/** Of the output of a tool, the last lines say most. */
const OUTPUT_LINES_MAX = 12;

export interface TranscriptOptions {
  readonly style: Style;
  readonly columns: number;
  /** Whether the output of tools is shown from its first line on. */
  readonly isWhole?: boolean;
  /** How to see what is left out here. */
  readonly hint: string;
}

export function turnText(turn: AnyTurn, options: TranscriptOptions): string {
  const { style } = options;
  const { userMessage, responseParts } = turn;
  const { state, error } = isOver(turn) ? turn : { state: 'running', error: undefined };
  return [
    ...saidLines(userMessage, style),
    '',
    ...responseParts.flatMap((part) => partLines(part, options)),
    ...(state === 'error' ? [style.red(`error: ${printableLines(error?.message ?? '')}`), ''] : []),
    ...(state === 'cancelled' ? [style.dim('(stopped)'), ''] : []),
    ...(state === 'running' ? [style.dim('… (still running)'), ''] : []),
  ].join('\n');
}

function saidLines({ text }: UserMessage, style: Style): string[] {
  const said = printableLines(text).split('\n');
  return said.map((line, index) => style.bold(`${index === 0 ? '> ' : '  '}${line}`));
}

function partLines(part: ResponsePart, options: TranscriptOptions): string[] {
  const { style } = options;
  const steering = steeringIn(part);
  if (steering) return [...saidLines(steering, style), ''];
  if (part.kind === 'markdown') return [...markdownLines(part.content, options), ''];
  if (part.kind === 'reasoning') return [...dimmed(part.content, style), ''];
  if (part.kind === 'systemNotification') return [...dimmed(plain(part.content), style), ''];
  return part.kind === 'toolCall' ? [...callLines(part.toolCall, options), ''] : [];
}

/** In a file it stays Markdown. */
function markdownLines(text: string, { style, columns }: TranscriptOptions): string[] {
  return style === COLOURED ? renderMarkdown(text, { style, columns }) : printableLines(text).split('\n');
}

function callLines(call: ToolCallState, options: TranscriptOptions): string[] {
  const { style } = options;
  const isDone = call.status === 'completed';
  const mark = isDone ? (call.success ? style.green('✓') : style.red('✗')) : style.dim('–');
  const message = printableLines(plain(isDone ? call.pastTenseMessage : call.invocationMessage));
  const output = [...outputLines(call, options), ...otherContent(call)];
  return [`${mark} ${style.bold(call.displayName)} ${message}`, ...output.map((line) => style.dim(`  ${line}`))];
}

function outputLines(call: ToolCallState, { isWhole = false, hint }: TranscriptOptions): string[] {
  const text = printableLines(outputText(call)).trimEnd();
  if (text === '') return [];
  const lines = text.split('\n');
  const hidden = isWhole ? 0 : Math.max(0, lines.length - OUTPUT_LINES_MAX);
  if (hidden === 0) return lines;
  return [`… ${hidden} ${hidden === 1 ? 'line' : 'lines'} above (${hint})`, ...lines.slice(hidden)];
}

/** Results that are no text, or too large to stand in the turn: `export` takes them along. */
function otherContent(call: ToolCallState): string[] {
  const content = 'content' in call ? (call.content ?? []) : [];
  return content.flatMap((block) => {
    if (block.type === 'resource') return [`[${printableLines(block.uri)}: atrium sessions export has it]`];
    return block.type === 'embeddedResource' ? [`[${printableLines(block.contentType)}, not shown as text]`] : [];
  });
}

function dimmed(text: string, style: Style): string[] {
  return printableLines(text)
    .trim()
    .split('\n')
    .map((line) => style.dim(line));
}
