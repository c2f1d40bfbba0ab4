/**
 * Commands of the chat that take a moment: /changes, /diff, /revert, /discard, /stage, /commit, /undo, /files, /open,
 * /terminal, /detach, /background.
 */
import { existsSync } from 'node:fs';
import type { Client, OpenSession, OpenSessionState } from '@atrium/client';
import { type AgentInfo, type ChatState, fileReferenceUri, readFileReference } from '@atrium/protocol/ahp-1';
import { diffLine, diffOf, fileLines, findFile, totalsOf, totalsText } from '../changes/changes-view.js';
import {
  channelOf,
  defaultView,
  entriesOf,
  entryOf,
  isView,
  readChangeset,
  VIEW_WORDS,
  VIEWS,
  type ViewName,
} from '../changes/changeset.js';
import { commit as commitAll, invoke, type Offer, offerOf } from '../changes/operations.js';
import { fileAt, readBytes } from '../host-files.js';
import { io } from '../io.js';
import { ago, folderOf, folderText } from '../sessions/summary-text.js';
import { callsIn } from '../sessions/turn-text.js';
import { attachTo } from '../terminals/attach.js';
import { findTerminal, shortId, terminalsOf } from '../terminals/host-terminals.js';
import { editorCommand, runEditor } from '../text/file-links.js';
import { printable, printableLines } from '../text/printable.js';
import { inColumns, table } from '../text/table.js';
import { cut, wrap } from '../text/width.js';
import type { ViewOptions } from './call-view.js';
import { terminalIn } from './live-terminals.js';

/** Facts that one command leaves for the next. */
interface Recall {
  /** The last view on the screen. */
  view?: ViewName | undefined;
  /** The further folder whose uncommitted changes were shown last; operations of Git apply to it, too. */
  folder?: string | undefined;
  /** The operation that undoes the last revert or discard. */
  undo?: { readonly channel: string; readonly operationId: string } | undefined;
}

export interface TaskContext {
  readonly client: Client;
  readonly open: OpenSession;
  /** Whether the host's files are those of this machine. */
  readonly isLocal: boolean;
  readonly recall: Recall;
  /** The agent of the session, as the host describes it. */
  agent(): AgentInfo | undefined;
  /** Leaves for another chat of the session. */
  goTo(chat: string, arrival?: Arrival): void;
  view(): ViewOptions;
  note(text: string): void;
  /** Puts lines into the scrollback. */
  show(lines: readonly string[]): void;
  /** A yes or a no of the person. */
  ask(question: string): Promise<boolean>;
  /** Puts a text into the line for the person to continue, unless the line has one. */
  write(text: string): void;
  /** Requests long work of the host: the person sees how far it is, and Esc stops it. */
  long(method: string, params: object): Promise<unknown>;
  /** Lets the work have the terminal until it is done. */
  away(work: () => Promise<void>): Promise<void>;
}

/** What the person brings into another chat. */
export interface Arrival {
  /** The first message, sent at once. */
  readonly prompt?: string | undefined;
  /** Whether the conversation there is already on the screen. */
  readonly isFamiliar?: boolean;
}

/** A command that takes a moment. The caller reports its errors. */
export type Task = (context: TaskContext) => Promise<void>;

// /changes and /diff

/** A longer difference would push everything else off the screen; another command shows the rest. */
const DIFF_LINES_MAX = 300;
/** How many files the chat fetches for one difference. */
const DIFF_FILES_MAX = 50;

export function changes(words: string): Task {
  return async (context) => {
    const { state } = context.open;
    const [word = '', ...rest] = words.split(/\s+/);
    const folder = word === 'uncommitted' && rest.length > 0 ? rest.join(' ') : undefined;
    if (word !== '' && !isView(word)) return context.note(`There is no "${word}". There are: ${VIEWS.join(', ')}.`);
    const view = isView(word) ? word : defaultView(state);
    const changeset = await readChangeset(context.client, await channelOf(context.open, view, folder));
    context.recall.view = view;
    context.recall.folder = folder;
    const { style, columns } = context.view();
    const { files } = changeset;
    const where = folder === undefined ? '' : ` in ${printable(folder)}`;
    const head = style.bold(
      `${VIEW_WORDS[view]}${where}: ${files.length === 0 ? 'no changes' : totalsText(totalsOf(files))}`,
    );
    const frame = { style, columns, folder: folderOf(state.session) };
    const foot = [...(files.length > 0 ? [hintFor(view)] : []), ...others(context.open.state, { view, folder })];
    const below = foot.flatMap((line) => wrap(line, columns - 2)).map((line) => style.dim(`  ${line}`));
    context.show([head, ...fileLines(changeset, frame), ...below, '']);
  };
}

function hintFor(view: ViewName): string {
  return view === 'uncommitted'
    ? '/diff [file] · /stage · /commit · /discard [file]'
    : '/diff [file] · /revert [file] takes them back';
}

/** The sums of the other views, if there are any. */
function others(state: OpenSessionState, shown: { view: ViewName; folder: string | undefined }): string[] {
  const current = entryOf(state, shown.view, shown.folder);
  return (['session', 'uncommitted'] as const).flatMap((other) =>
    entriesOf(state, other).flatMap((entry, index) => {
      const { files = 0, additions = 0, deletions = 0, label } = entry;
      if (entry === current || files === 0) return [];
      const where = index === 0 ? '' : ` ${printable(label.slice(label.lastIndexOf(' ') + 1))}`;
      return [`/changes ${other}${where}: ${totalsText({ files, added: additions, removed: deletions })}`];
    }),
  );
}

/** The difference of one file, or of all files listed last. */
export function diff(words: string): Task {
  return async (context) => {
    const { state } = context.open;
    const [first = '', ...rest] = words.split(/\s+/);
    const view = isView(first) ? first : (context.recall.view ?? defaultView(state));
    const name = isView(first) ? rest.join(' ') : words;
    const folder = folderOf(state.session);
    const further = view === 'uncommitted' && !isView(first) ? context.recall.folder : undefined;
    const { files } = await readChangeset(context.client, await channelOf(context.open, view, further));
    context.recall.view = view;
    const chosen = name === '' ? files.slice(0, DIFF_FILES_MAX) : [findFile(files, name, folder)];
    if (chosen.length === 0) return context.note(`${VIEW_WORDS[view]}: no changes.`);
    const diffs = await Promise.all(chosen.map(({ edit }) => diffOf(context, edit, folder)));
    showDiff(context, diffs.flat(), files.length - (name === '' ? chosen.length : files.length));
  };
}

function showDiff(context: TaskContext, lines: readonly string[], filesLeft: number): void {
  const view = context.view();
  const hidden = lines.length - DIFF_LINES_MAX;
  const left = [
    ...(hidden > 0 ? [`… ${hidden} more lines. One file: /diff <file>`] : []),
    ...(filesLeft > 0 ? [`… ${filesLeft} more files. One of them: /diff <file>`] : []),
  ];
  const shown = lines.slice(0, DIFF_LINES_MAX).map((line) => diffLine(line, view));
  context.show([...shown, ...left.map((line) => view.style.yellow(line)), '']);
}

// /revert, /discard, /stage, /commit and /undo

interface Planned {
  readonly channel: string;
  readonly offer: Offer;
}

/** Takes back the agent's changes in its last turn, in the whole session, or in one file. */
export function revert(word: string): Task {
  return async (context) => {
    const view = isView(word) ? word : context.recall.view === 'session' && word !== '' ? 'session' : 'turn';
    if (view === 'uncommitted') return context.note('What is not committed is thrown away with /discard.');
    const file = isView(word) || word === '' ? undefined : word;
    const { channel, offer } = await planned(context, view, 'revert', file);
    if (!(await done(context, channel, offer))) return;
    context.recall.undo = { channel, operationId: 'reapply' };
  };
}

export function discard(file: string): Task {
  return async (context) => {
    const { channel, offer } = await planned(context, 'uncommitted', 'discard', file || undefined);
    if (!(await done(context, channel, offer))) return;
    context.recall.undo = { channel, operationId: 'restore' };
  };
}

export function stage(operationId: 'stage' | 'unstage', file: string): Task {
  return async (context) => {
    const { channel, offer } = await planned(context, 'uncommitted', operationId, file || undefined);
    await done(context, channel, offer);
  };
}

/** The session asks for the message, like any other question. */
export const commit: Task = async (context) => {
  const { channel, offer } = await planned(context, 'uncommitted', 'commit', undefined);
  const { client, open: session } = context;
  context.note((await commitAll({ client, open: session, channel }, offer)) ?? 'Nothing was committed.');
};

export const undo: Task = async (context) => {
  const { undo: last } = context.recall;
  if (!last) return context.note('Nothing was taken back in this chat.');
  const offer = offerOf(await readChangeset(context.client, last.channel), last, undefined);
  if (await done(context, last.channel, offer)) context.recall.undo = undefined;
};

async function planned(
  context: TaskContext,
  view: ViewName,
  operationId: string,
  file: string | undefined,
): Promise<Planned> {
  const channel = await channelOf(context.open, view, view === 'uncommitted' ? context.recall.folder : undefined);
  const changeset = await readChangeset(context.client, channel);
  return { channel, offer: offerOf(changeset, { operationId, file }, folderOf(context.open.state.session)) };
}

/** False when the person said no. */
async function done(context: TaskContext, channel: string, offer: Offer): Promise<boolean> {
  if (offer.question !== undefined && !(await context.ask(offer.question))) {
    context.note('Nothing was changed.');
    return false;
  }
  const message = await invoke(context.client, channel, offer);
  const isTakenBack = ['revert', 'discard'].includes(offer.operation.id);
  context.note(isTakenBack ? `${message} /undo puts it back.` : message);
  return true;
}

// /files and /open

const ENTRIES_SHOWN_MAX = 400;
const LINES_SHOWN_MAX = 200;
/** The chat does not show larger files. */
const OPEN_MAX_BYTES = 4 * 1024 * 1024;

export function files(name: string): Task {
  return async (context) => {
    const uri = fileAt(folderIn(context), name === '' ? '.' : name);
    const { entries } = await context.client.request('resourceList', { uri });
    const { style, columns } = context.view();
    const folders = entries.filter(({ type }) => type === 'directory').map((entry) => `${printable(entry.name)}/`);
    const rest = entries.filter(({ type }) => type !== 'directory').map((entry) => printable(entry.name));
    const names = [...folders.sort(), ...rest.sort()].slice(0, ENTRIES_SHOWN_MAX);
    const hidden = entries.length - names.length;
    const rows = inColumns(names, columns - 2).map((row) => cut(`  ${row}`, columns));
    const count = `${entries.length} ${entries.length === 1 ? 'entry' : 'entries'}`;
    const head = `${style.bold(cut(folderText(uri.replace(/\/+$/, '')), columns - 14))}  ${style.dim(count)}`;
    context.show([head, ...rows, ...(hidden > 0 ? [style.dim(`  … ${hidden} more`)] : []), '']);
  };
}

/** Opens the file in the person's editor, if one is set and the files are on this machine. */
function editing(context: TaskContext, words: string): Promise<void> | undefined {
  const { env } = io();
  const place = readFileReference(words);
  const uri = place && fileReferenceUri(place.path, folderIn(context));
  const command = uri === undefined ? undefined : editorCommand(env, uri, place ?? {});
  if (!command || uri === undefined) return undefined;
  if (!existsSync(new URL(uri))) return Promise.reject(new Error(`${printable(words)} does not exist`));
  return context.away(() => runEditor(command, env));
}

/** `name:120` begins at a line. */
export function open(words: string): Task {
  return async (context) => {
    const [, name = '', from = '1'] = /^(.*?)(?::(\d{1,9}))?$/s.exec(words) ?? [];
    if (name === '')
      return context.note('Name a file behind it: /open src/app.ts, or from a line: /open src/app.ts:120');
    const edited = context.isLocal ? editing(context, words) : undefined;
    if (edited) return edited;
    const bytes = await readBytes(context.client, fileAt(folderIn(context), name), OPEN_MAX_BYTES);
    if (bytes.includes(0)) return context.note(`${name} is not text (${bytes.length} bytes).`);
    const lines = printableLines(bytes.toString('utf8').replace(/\n$/, '')).split('\n');
    showLines(context, { name, lines, start: Math.min(Math.max(1, Number(from)), lines.length) });
  };
}

interface Shown {
  readonly name: string;
  readonly lines: readonly string[];
  /** Counted from 1. */
  readonly start: number;
}

function showLines(context: TaskContext, { name, lines, start }: Shown): void {
  const { style, columns } = context.view();
  const end = Math.min(lines.length, start - 1 + LINES_SHOWN_MAX);
  const width = String(end).length;
  const shown = lines
    .slice(start - 1, end)
    .map((line, index) => `${style.dim(String(start + index).padStart(width))} ${cut(line, columns - width - 1)}`);
  const count = `${lines.length} ${lines.length === 1 ? 'line' : 'lines'}`;
  const left = lines.length - end;
  const more = left > 0 ? [style.yellow(`… ${left} more lines: /open ${printable(name)}:${end + 1}`)] : [];
  context.show([`${style.bold(printable(name))}  ${style.dim(count)}`, ...shown, ...more, '']);
}

function folderIn({ open: { state } }: TaskContext): string {
  const folder = folderOf(state.session);
  if (folder === undefined) throw new Error('the session has no folder');
  return folder;
}

// /terminal

/** Without a name: the terminal of the agent's running command, or else the last terminal of this session. */
export function terminal(name: string): Task {
  return async (context) => {
    const uri = await chosen(context, name);
    if (uri === undefined)
      return context.note('No command of this session has a terminal. One of your own: atrium terminals new');
    await context.away(() => attachTo(context.client, uri));
  };
}

async function chosen(context: TaskContext, name: string): Promise<string | undefined> {
  if (name !== '') return findTerminal(await terminalsOf(context.client), name).resource;
  const running = runningTerminal(context.open.state.chat);
  if (running !== undefined) return running;
  const terminals = await terminalsOf(context.client);
  return terminals.findLast(({ claim }) => claim.kind === 'session' && claim.session === context.open.session.uri)
    ?.resource;
}

function runningTerminal({ activeTurn }: ChatState): string | undefined {
  return callsIn(activeTurn)
    .flatMap((call) => (call.status === 'running' ? (terminalIn(call) ?? []) : []))
    .at(-1);
}

/** Lets the command that the agent waits for go on in the background. */
export const detach: Task = async ({ client, open: { state, session }, note: say }) => {
  const uri = runningTerminal(state.chat);
  if (uri === undefined) return say('No command is running that the agent waits for.');
  const terminal = await client.subscribe(uri, { kind: 'terminal' });
  try {
    const claim = { kind: 'session' as const, session: session.uri, chat: state.chat.resource };
    await terminal.dispatch({ type: 'terminal/claimed', claim });
  } finally {
    terminal.close();
  }
};

/** Lists the chat's commands in the background. */
export const background: Task = async ({ open: { state }, view, show, note: say }) => {
  const { backgroundWork = [] } = state.chat;
  if (backgroundWork.length === 0) return say('Nothing runs in the background. /detach puts a running command there.');
  const rows = backgroundWork.map((work) => {
    const way = 'terminal' in work ? `/terminal ${shortId(String(work.terminal))}` : '/chats';
    return [way, ago(work.startedAt, Date.now()), printable('command' in work ? String(work.command) : work.label)];
  });
  show(
    table(rows, view().columns)
      .split('\n')
      .map((line) => `  ${line}`),
  );
};
