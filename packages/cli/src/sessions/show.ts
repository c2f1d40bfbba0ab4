/** `atrium sessions show`: a session from its first turn to its last, or its newest turns. */
import type { Client } from '@atrium/client';
import { type ResponsePart, steeringIn, type ToolCallState, type Turn, type UserMessage } from '@atrium/protocol';
import { io, print, printJson } from '../io.js';
import { renderMarkdown } from '../text/markdown.js';
import { printable, printableLines } from '../text/printable.js';
import { COLOURED, type Style, styleFor } from '../text/style.js';
import { findSession, shortId } from './find-session.js';
import { ago, folderText, placeText, stateOf } from './summary-text.js';
import { readSession } from './transfer.js';
import { type AnyTurn, isOver, outputText, plain } from './turn-text.js';

interface ShowOptions {
  readonly json?: boolean;
  readonly turns?: number;
  readonly full?: boolean;
}

const COLUMNS_MAX = 100;

export async function show(
  client: Client,
  name: string,
  { json, turns: last, full = false }: ShowOptions,
): Promise<void> {
  const summary = findSession(await client.listSessions(), name);
  const { state, total, pages } = await readSession(client, summary.resource);
  const skipped = last === undefined ? 0 : Math.max(0, total - last);
  const turns: Turn[] = [];
  const style = styleFor(io().stdout, io().env);
  const hint = `the whole: atrium sessions show ${shortId(summary.resource)} --full`;
  const columns = Math.min(io().stdout.columns ?? COLUMNS_MAX, COLUMNS_MAX);
  const options = { style, columns, hint, isWhole: full };
  if (!json) {
    const { title, provider, modifiedAt, workingDirectory } = summary;
    print(`${style.bold(printable(title))}  ${style.dim(shortId(summary.resource))}`);
    const places = new Set([placeText(summary), folderText(workingDirectory)]);
    const facts = [provider, ...places, stateOf(summary), ago(modifiedAt, Date.now())];
    print(`${style.dim([...facts, `${total} ${total === 1 ? 'turn' : 'turns'}`].filter(Boolean).join(' · '))}\n`);
    if (skipped > 0)
      print(style.dim(`… ${skipped} earlier ${skipped === 1 ? 'turn' : 'turns'} (left out by --turns ${last})\n`));
  }
  let index = 0;
  for await (const page of pages()) {
    for (const turn of page) {
      if (index++ < skipped) continue;
      if (json) turns.push(turn);
      else print(turnText(turn, options));
    }
  }
  if (json) printJson({ ...state, turns });
  else if (state.activeTurn) print(turnText(state.activeTurn, options));
}

// A turn as text, for terminals and files.

/** Of the output of a tool, the last lines say most. */
const OUTPUT_LINES_MAX = 12;

interface TranscriptOptions {
  readonly style: Style;
  readonly columns: number;
  /** Whether the output of tools is shown from its first line on. */
  readonly isWhole?: boolean;
  /** How to see what is left out here. */
  readonly hint: string;
}

function turnText(turn: AnyTurn, options: TranscriptOptions): string {
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
