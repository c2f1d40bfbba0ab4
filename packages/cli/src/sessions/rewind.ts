/** Rewinds: the host's preview in lines for people, and the requests. */
import type { Client } from '@atrium/client';
import {
  type KeptFile,
  REWIND_METHOD,
  REWIND_PREVIEW_METHOD,
  type RewindFile,
  type RewindKind,
  type RewindParams,
  type RewindPlace,
  type RewindPreview,
  type RewindResult,
  type Turn,
  UNDO_REWIND_METHOD,
} from '@atrium/protocol/ahp-1';
import { callExtension } from '../connect/with-client.js';
import { printable } from '../text/printable.js';
import type { Style } from '../text/style.js';
import { cut } from '../text/width.js';
import { folderText } from './summary-text.js';

/** The host puts at most this many turns into one answer. */
const TURNS_PAGE = 200;
/** How many files the preview lists; it counts the rest. */
const FILES_SHOWN_MAX = 30;

export async function previewRewind(client: Client, place: RewindPlace): Promise<RewindPreview> {
  return (await callExtension(client, REWIND_PREVIEW_METHOD, place)) as RewindPreview;
}

export async function rewind(client: Client, params: RewindParams): Promise<RewindResult> {
  return (await callExtension(client, REWIND_METHOD, params)) as RewindResult;
}

export async function undoRewind(client: Client, channel: string): Promise<string> {
  return ((await callExtension(client, UNDO_REWIND_METHOD, { channel })) as { readonly message: string }).message;
}

/** The newest finished turns of a chat, up to a page, and the number of the first of them, counted from 1. */
export async function newestTurns(
  client: Client,
  chat: string,
  total: number,
): Promise<{ first: number; turns: Turn[] }> {
  const start = Math.max(0, total - TURNS_PAGE);
  const answer = await callExtension(client, 'atrium/chatTurns', { channel: chat, start, end: total });
  return { first: start + 1, turns: [...(answer as { readonly turns: readonly Turn[] }).turns] };
}

/** The turn with this number, counted from 1, or from the end when it is negative. */
export async function turnAt(
  client: Client,
  chat: string,
  at: { number: number; total: number },
): Promise<Turn | undefined> {
  const index = at.number < 0 ? at.total + at.number : at.number - 1;
  if (index < 0 || index >= at.total) return undefined;
  const answer = await callExtension(client, 'atrium/chatTurns', { channel: chat, start: index, end: index + 1 });
  return (answer as { readonly turns: readonly Turn[] }).turns[0];
}

export interface PreviewView {
  readonly style: Style;
  readonly columns: number;
  /** Files are named within this folder. */
  readonly folder: string | undefined;
}

export function previewLines(preview: RewindPreview, what: RewindKind, view: PreviewView): string[] {
  const { style, columns } = view;
  const { turns, files, kept, moreFiles = 0, notUndone, message } = preview;
  const head = style.bold(cut(`Back to before "${printable(message)}"`, columns));
  const cutOff =
    what === 'files' ? [] : [`  Takes out ${turns} ${turns === 1 ? 'turn' : 'turns'}; a fork keeps what was said.`];
  if (what === 'conversation') return [head, ...cutOff];
  const hidden = moreFiles + Math.max(0, files.length - FILES_SHOWN_MAX);
  return [
    head,
    ...cutOff,
    files.length === 0
      ? '  No file would change.'
      : `  Puts back ${files.length + moreFiles} ${files.length === 1 ? 'file' : 'files'}:`,
    ...files.slice(0, FILES_SHOWN_MAX).map((file) => cut(`    ${fileText(file, view)}`, columns)),
    ...(hidden > 0 ? [style.dim(`    and ${hidden} more`)] : []),
    ...(kept.length > 0
      ? [
          '  Stays as it is:',
          ...kept.slice(0, FILES_SHOWN_MAX).map((file) => cut(`    ${keptText(file, view)}`, columns)),
        ]
      : []),
    ...(notUndone.length > 0
      ? [
          '  Not undone, beyond these files:',
          ...notUndone.map((text) => style.dim(cut(`    ${printable(text)}`, columns))),
        ]
      : []),
  ];
}

function fileText({ uri, does, added, removed }: RewindFile, view: PreviewView): string {
  const { style } = view;
  const sign = { change: 'M', delete: 'D', create: 'A' }[does];
  const counts =
    added === undefined || removed === undefined ? '' : `  ${style.green(`+${added}`)} ${style.red(`-${removed}`)}`;
  return `${sign} ${nameIn(uri, view)}${counts}`;
}

function keptText({ uri, why }: KeptFile, view: PreviewView): string {
  return `${nameIn(uri, view)}  ${view.style.dim(printable(why))}`;
}

function nameIn(uri: string, { folder }: PreviewView): string {
  const prefix = folder === undefined ? undefined : `${folder.replace(/\/$/, '')}/`;
  if (prefix === undefined || !uri.startsWith(prefix)) return printable(folderText(uri));
  try {
    return printable(decodeURIComponent(uri.slice(prefix.length)));
  } catch {
    return printable(uri.slice(prefix.length));
  }
}
