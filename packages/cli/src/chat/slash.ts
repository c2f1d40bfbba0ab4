/**
 * Runs the commands of the table in the terminal. Another word after a slash may be a skill of the session, or a
 * typing error.
 */
import type { OpenSessionState } from '@atrium/client';
import {
  type AgentInfo,
  BUILTIN_COMMANDS,
  type BuiltinName,
  builtinIn,
  type MessageAttachment,
  MODE_LABELS,
  MODE_PROPERTY,
  MODE_TEXTS,
  type ModelSelection,
  modeChange,
  modeIn,
  PERMISSION_MODES,
  readModelWords,
  usageOf,
} from '@atrium/protocol/ahp-1';
import { isArchived } from '../sessions/summary-text.js';
import { type OpenAction, resumableTurn } from '../sessions/turn-text.js';
import { board } from './board-tasks.js';
import { anotherChat, aside, closeChat, fork, pin } from './chat-tasks.js';
import { budget, cost } from './cost-tasks.js';
import { devices } from './devices-task.js';
import { exportHere } from './export-task.js';
import { findHere } from './found.js';
import { notify } from './notify-task.js';
import { permissions } from './permissions-task.js';
import { redo, rewind, undo } from './rewind-tasks.js';
import { instructions, settings } from './settings-task.js';
import { share } from './share-task.js';
import {
  background,
  changes,
  commit,
  detach,
  diff,
  discard,
  files,
  open,
  revert,
  stage,
  type Task,
  terminal,
} from './tasks.js';

export type SlashOutcome =
  | { readonly kind: 'note'; readonly text: string }
  /** `draft`: the message that the person continues. `say`: a message that is sent afterwards. */
  | {
      readonly kind: 'act';
      readonly action: OpenAction;
      readonly text?: string;
      readonly draft?: Draft;
      readonly say?: string;
    }
  /** Messages use this model from now on. */
  | { readonly kind: 'model'; readonly model: ModelSelection; readonly text: string }
  /** A message that the agent understands as a command. */
  | { readonly kind: 'say'; readonly text: string }
  /** Something that takes a moment. */
  | { readonly kind: 'task'; readonly task: Task }
  | { readonly kind: 'leave'; readonly to: 'shell' | 'new' | 'sessions' | 'chats' }
  /** Attaches the picture in the clipboard to the next message. */
  | { readonly kind: 'paste' }
  /** Goes to the hit that the person chooses. */
  | { readonly kind: 'search'; readonly query: string };

export interface Draft {
  readonly text: string;
  readonly attachments?: readonly MessageAttachment[] | undefined;
}

interface SlashFacts {
  readonly state: OpenSessionState;
  /** The model of the next message, if it is known. */
  readonly model: ModelSelection | undefined;
  /** The models of the agent. */
  readonly models: AgentInfo['models'];
}

type Handler = (rest: string, facts: SlashFacts) => SlashOutcome;

const KEYS = `Enter sends; while a turn runs it queues. Alt+Enter or Ctrl+S steers the running turn. Esc stops it.
Ctrl+J or Alt+J makes a new line. Up and Down go through what you wrote before.
Tab completes commands, @files, #symbols and /skills; again, the next one.
Ctrl+V attaches the picture in the clipboard; the pasted name of a picture attaches the picture.
Shift+Tab changes the mode: plan, ask, accept edits, auto.
Ctrl+G goes to the chat that asks you something, or back to where you came from.
Two slashes send a text that begins with one: //etc is the word /etc.
Ctrl+D leaves, Ctrl+C too; the session goes on in the host.`;

const note = (text: string): SlashOutcome => ({ kind: 'note', text });
const task = (what: Task): SlashOutcome => ({ kind: 'task', task: what });

/** The terminal's handler for each command of the table. */
const HANDLERS: Readonly<Record<BuiltinName, Handler>> = {
  help: () => note(helpText()),
  new: () => ({ kind: 'leave', to: 'new' }),
  sessions: () => ({ kind: 'leave', to: 'sessions' }),
  search: (query) =>
    query === '' ? note('Write what to find behind it: /search rate limiter') : { kind: 'search', query },
  find: (rest) => task(findHere(rest)),
  chats: () => ({ kind: 'leave', to: 'chats' }),
  chat: (rest) => task(anotherChat(rest)),
  fork: (rest) => task(fork(rest)),
  aside: (rest) => task(aside(rest)),
  close: () => task(closeChat),
  compact: (rest) => ({ kind: 'say', text: rest === '' ? '/compact' : `/compact ${rest}` }),
  model,
  pin: () => task(pin),
  rename,
  archive,
  paste: () => ({ kind: 'paste' }),
  export: (rest) => task(exportHere(rest)),
  cost: () => task(cost),
  budget: (rest) => task(budget(rest)),
  auto,
  mode,
  plan,
  permissions: (rest) => task(permissions(rest)),
  changes: (rest) => task(changes(rest)),
  diff: (rest) => task(diff(rest)),
  revert: (rest) => task(revert(rest)),
  discard: (rest) => task(discard(rest)),
  undo: () => task(undo),
  redo: () => task(redo),
  rewind: (rest) => task(rewind(rest)),
  stage: (rest) => task(stage('stage', rest)),
  unstage: (rest) => task(stage('unstage', rest)),
  commit: () => task(commit),
  board: () => task(board),
  files: (rest) => task(files(rest)),
  open: (rest) => task(open(rest)),
  terminal: (rest) => task(terminal(rest)),
  detach: () => task(detach),
  background: () => task(background),
  resume,
  unqueue,
  notify: (rest) => task(notify(rest)),
  instructions: () => task(instructions),
  devices: () => task(devices),
  share: (rest) => task(share(rest)),
  settings: () => task(settings),
  theme: () => note('The chat has the colours of your terminal. NO_COLOR=1 turns them off; the page has themes.'),
  quit: () => ({ kind: 'leave', to: 'shell' }),
};

/** Undefined if the text is not a command. */
export function slash(text: string, facts: SlashFacts): SlashOutcome | undefined {
  const typed = builtinIn(text);
  return typed && HANDLERS[typed.name](typed.rest, facts);
}

function helpText(): string {
  const rows = BUILTIN_COMMANDS.map((command) => ({ usage: usageOf(command), text: command.text }));
  const width = Math.max(...rows.map(({ usage }) => usage.length));
  return [KEYS, ...rows.map(({ usage, text }) => `${usage.padEnd(width)}  ${text}`)].join('\n');
}

function rename(words: string): SlashOutcome {
  if (words === '') return note('Write the title behind it: /rename My session');
  return { kind: 'act', action: { type: 'session/titleChanged', title: words } };
}

function archive(_rest: string, { state: { session } }: SlashFacts): SlashOutcome {
  const isOld = isArchived(session);
  const text = isOld
    ? 'This session is on the list again.'
    : 'This session is put aside: lists leave it out. /archive takes it back.';
  return { kind: 'act', action: { type: 'session/isArchivedChanged', isArchived: !isOld }, text };
}

function model(words: string, { model: current, models }: SlashFacts): SlashOutcome {
  const read = readModelWords(words, models, current);
  return read.kind === 'told' ? note(read.text) : { kind: 'model', model: read.model, text: read.text };
}

function auto(word: string): SlashOutcome {
  if (word !== 'on' && word !== 'off') return note('Write /auto on or /auto off.');
  const text = word === 'on' ? 'Tools run without asking in this session.' : 'Tools ask first.';
  return { kind: 'act', action: { type: 'session/configChanged', config: { autoApprove: word === 'on' } }, text };
}

/** Changes the mode, or tells the current one. */
function mode(word: string, { state: { session } }: SlashFacts): SlashOutcome {
  const values = session.config?.values;
  const wanted = PERMISSION_MODES.find((each) => each === word);
  if (!session.config?.schema.properties[MODE_PROPERTY]) return note('This host has no modes.');
  if (!wanted) {
    const now = modeIn(values);
    const rows = PERMISSION_MODES.map((each) => `${each === now ? '›' : ' '} ${each.padEnd(12)}  ${MODE_TEXTS[each]}`);
    return note([...rows, 'Shift+Tab goes through them, /mode plan chooses one.'].join('\n'));
  }
  const text = `${MODE_LABELS[wanted]}: ${MODE_TEXTS[wanted]}`;
  return { kind: 'act', action: { type: 'session/configChanged', config: modeChange(wanted, values) }, text };
}

function plan(rest: string, facts: SlashFacts): SlashOutcome {
  const outcome = mode('plan', facts);
  return outcome.kind === 'act' && rest !== '' ? { ...outcome, say: rest } : outcome;
}

/** Only the host knows which failures a turn can go on from. */
function resume(_rest: string, { state: { chat } }: SlashFacts): SlashOutcome {
  const turn = resumableTurn(chat);
  if (turn) return { kind: 'act', action: { type: 'chat/turnResume', turnId: turn.id } };
  if (chat.activeTurn) return note('A turn is running.');
  return note('There is nothing to go on with: the last turn did not fail in a way that allows it.');
}

/** Puts the message back into the line, to be edited or deleted. */
function unqueue(_rest: string, { state: { chat } }: SlashFacts): SlashOutcome {
  const last = chat.queuedMessages?.at(-1);
  if (!last) return note('Nothing is waiting.');
  const action = { type: 'chat/pendingMessageRemoved' as const, kind: 'queued' as const, id: last.id };
  const { text, attachments } = last.message;
  return { kind: 'act', action, draft: { text, attachments } };
}
