/** `atrium sessions show`: a session from its first turn to its last, or its newest turns. */
import type { Client } from '@atrium/client';
import {
  type Message,
  type ResponsePart,
  type SessionState,
  type SessionSummary,
  steeringIn,
  type ToolCallState,
} from '@atrium/protocol/ahp-1';
import { io, print, printJson } from '../io.js';
import { renderMarkdown } from '../text/markdown.js';
import { printable, printableLines } from '../text/printable.js';
import { COLOURED, type Style, styleFor } from '../text/style.js';
import { chatName, chatState, chatTree, findChat, kindWord } from './chats.js';
import { findSession, shortId } from './find-session.js';
import { ago, folderOf, folderText, placeText, stateOf } from './summary-text.js';
import { type ReadChat, readChat, readState } from './transfer.js';
import { type AnyTurn, failureOf, isOver, outputText, plain, questionText } from './turn-text.js';

interface ShowOptions {
  readonly json?: boolean;
  readonly turns?: number;
  readonly full?: boolean;
  readonly chat?: string;
}

const COLUMNS_MAX = 100;

export async function show(
  client: Client,
  name: string,
  { json, turns: last, full = false, chat: wanted }: ShowOptions,
): Promise<void> {
  const summary = findSession(await client.listSessions(), name);
  const session = await readState(client, summary.resource);
  const uri =
    wanted === undefined ? (session.defaultChat ?? session.chats[0]?.resource) : findChat(session, wanted).resource;
  const chat = uri === undefined ? undefined : await readChat(client, uri, last);
  if (json) {
    const { turns, activeTurn, olderCount: _older, ...rest } = chat ?? { turns: [] };
    return printJson({ ...session, resource: summary.resource, chat: rest, turns, activeTurn });
  }
  const style = styleFor(io().stdout, io().env);
  const hint = `the whole: atrium sessions show ${shortId(summary.resource)} --full`;
  const columns = Math.min(io().stdout.columns ?? COLUMNS_MAX, COLUMNS_MAX);
  print(headText(summary, chat, style));
  for (const line of chatLines(session, uri)) print(style.dim(line));
  for (const turn of chat ? [...chat.turns, ...(chat.activeTurn ? [chat.activeTurn] : [])] : [])
    print(turnText(turn, { style, columns, hint, isWhole: full }));
}

/** The other chats, if there are any. */
function chatLines(session: SessionState, shown: string | undefined): string[] {
  const rows = chatTree(session);
  if (rows.length < 2) return [];
  const lines = rows.map((row, index) => {
    const mark = row.chat.resource === shown ? '›' : ' ';
    const lead = `${mark} ${index + 1} ${'  '.repeat(row.depth)}`;
    return `${lead}${chatName(session, row.chat)} (${kindWord(row)}, ${chatState(row)})`;
  });
  return [`${rows.length} chats; --chat <number> shows another one:`, ...lines, ''];
}

function headText(summary: SessionSummary, chat: ReadChat | undefined, style: Style): string {
  const { title, provider, modifiedAt, resource } = summary;
  const places = new Set([placeText(summary), folderText(folderOf(summary))]);
  const facts = [provider, ...places, stateOf(summary), ago(modifiedAt, Date.now()), countText(chat)];
  return [
    `${style.bold(printable(title))}  ${style.dim(shortId(resource))}`,
    `${style.dim(facts.filter(Boolean).join(' · '))}\n`,
    ...earlierLines(chat, style),
  ].join('\n');
}

function countText(chat: ReadChat | undefined): string {
  if (!chat) return '';
  if (chat.turnsNextCursor !== undefined && chat.olderCount === undefined) return '';
  const total = chat.turns.length + (chat.olderCount ?? 0);
  return `${total} ${total === 1 ? 'turn' : 'turns'}`;
}

/** How many turns `--turns` left out. Hosts of others may not say. */
function earlierLines(chat: ReadChat | undefined, style: Style): string[] {
  if (!chat || chat.olderCount === 0) return [];
  const { turns, olderCount } = chat;
  const what =
    olderCount === undefined ? 'Earlier turns' : `${olderCount} earlier ${olderCount === 1 ? 'turn' : 'turns'}`;
  return [style.dim(`… ${what} (left out by --turns ${turns.length})\n`)];
}

// A turn as text, for terminals and files.

/** The last lines of a tool's output say most. */
const OUTPUT_LINES_MAX = 12;

interface TranscriptOptions {
  readonly style: Style;
  readonly columns: number;
  /** Shows the whole output of tools. */
  readonly isWhole?: boolean;
  /** Says how to see the rest. */
  readonly hint: string;
}

export function turnText(turn: AnyTurn, options: TranscriptOptions): string {
  const { style } = options;
  const { message, responseParts } = turn;
  const state = isOver(turn) ? turn.state : 'running';
  return [
    ...saidLines(message, style),
    '',
    ...responseParts.flatMap((part) => partLines(part, options)),
    ...(state === 'error' && !failureOf(turn) ? [style.red('error: the host does not say why'), ''] : []),
    ...(state === 'cancelled' ? [style.dim('(stopped)'), ''] : []),
    ...(state === 'running' ? [style.dim('… (still running)'), ''] : []),
  ].join('\n');
}

function saidLines({ text }: Message, style: Style): string[] {
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
  if (part.kind === 'error') return [style.red(`error: ${printableLines(part.error.message)}`), ''];
  if (part.kind === 'inputRequest') return [...dimmed(questionText(part), style), ''];
  return part.kind === 'toolCall' ? [...callLines(part.toolCall, options), ''] : [];
}

/** A file gets the Markdown itself. */
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

/** Names results that are not text, or too large for the turn; `export` includes them. */
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
