/** Slash commands of a chat. Another word behind a slash may be a skill of the session, or a typing error. */
import type { OpenSessionState } from '@atrium/client';
import type { MessageAttachment } from '@atrium/protocol/ahp-1';
import { type OpenAction, resumableTurn } from '../sessions/turn-text.js';
import { anotherChat, aside, closeChat, fork, pin } from './chat-tasks.js';
import { budget, cost } from './cost-tasks.js';
import { findHere } from './found.js';
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
  undo,
} from './tasks.js';

export type SlashOutcome =
  | { readonly kind: 'note'; readonly text: string }
  /** `draft`: what is to be written on. */
  | { readonly kind: 'act'; readonly action: OpenAction; readonly text?: string; readonly draft?: Draft }
  /** Messages go with this model from now on. */
  | { readonly kind: 'model'; readonly id: string; readonly text: string }
  /** Something that takes a moment. */
  | { readonly kind: 'task'; readonly task: Task }
  | { readonly kind: 'leave'; readonly to: 'shell' | 'new' | 'sessions' | 'chats' }
  /** To whatever is chosen among what has these words. */
  | { readonly kind: 'search'; readonly query: string };

interface Draft {
  readonly text: string;
  readonly attachments?: readonly MessageAttachment[] | undefined;
}

interface SlashFacts {
  readonly state: OpenSessionState;
  /** The one that messages go with now, if it is known. */
  readonly model: string | undefined;
  /** The ids of the models that the agent has. */
  readonly models: readonly string[];
}

interface SlashCommand {
  /** As it is typed. */
  readonly usage: string;
  readonly text: string;
  run(rest: string, facts: SlashFacts): SlashOutcome;
}

const KEYS = `Enter sends; while a turn runs it queues. Alt+Enter or Ctrl+S steers the running turn. Esc stops it.
Ctrl+J or Alt+J makes a new line. Up and Down go through what you wrote before.
Tab completes commands, @files, #symbols and /skills; again, the next one.
Ctrl+G goes to the chat that asks you something, or back to where you came from.
Two slashes send a text that begins with one: //etc is the word /etc.
Ctrl+D leaves, Ctrl+C too; the session goes on in the host.`;

const MODELS_SHOWN_MAX = 30;

const note = (text: string): SlashOutcome => ({ kind: 'note', text });
const task = (what: Task): SlashOutcome => ({ kind: 'task', task: what });

const COMMANDS: Readonly<Record<string, SlashCommand>> = {
  help: { usage: '/help', text: 'keys and commands', run: () => note(helpText()) },
  new: { usage: '/new', text: 'a new session, with this agent and folder', run: () => ({ kind: 'leave', to: 'new' }) },
  sessions: { usage: '/sessions', text: 'another session', run: () => ({ kind: 'leave', to: 'sessions' }) },
  search: {
    usage: '/search <words>',
    text: 'find words in all sessions',
    run: (query) =>
      query === '' ? note('Write what to find behind it: /search rate limiter') : { kind: 'search', query },
  },
  find: {
    usage: '/find <words>',
    text: 'find words in this session, also far above',
    run: (rest) => task(findHere(rest)),
  },
  chats: {
    usage: '/chats',
    text: 'the chats of this session, and its workers',
    run: () => ({ kind: 'leave', to: 'chats' }),
  },
  chat: { usage: '/chat [text]', text: 'another chat in this session', run: (rest) => task(anotherChat(rest)) },
  fork: {
    usage: '/fork [text]',
    text: 'a copy of this chat, to go on in another way',
    run: (rest) => task(fork(rest)),
  },
  aside: {
    usage: '/aside <text>',
    text: 'a question beside this chat, which knows it',
    run: (rest) => task(aside(rest)),
  },
  close: { usage: '/close', text: 'close this chat; the first one stays', run: () => task(closeChat) },
  model: { usage: '/model <id>', text: 'another model; without an id: which there are', run: model },
  pin: { usage: '/pin', text: 'keep this session above others, or no longer', run: () => task(pin) },
  title: { usage: '/title <text>', text: 'rename the session', run: title },
  cost: { usage: '/cost', text: 'what this session used, and what it cost', run: () => task(cost) },
  budget: {
    usage: '/budget [which] [limit]',
    text: 'session, project or day, up to $5 or 2M tokens; off removes it',
    run: (rest) => task(budget(rest)),
  },
  auto: { usage: '/auto on|off', text: 'run tools without asking, or ask again', run: auto },
  changes: {
    usage: '/changes [which]',
    text: 'files that are different: turn, session or uncommitted',
    run: (rest) => task(changes(rest)),
  },
  diff: { usage: '/diff [file]', text: 'line by line', run: (rest) => task(diff(rest)) },
  revert: {
    usage: '/revert [file]',
    text: "take back the agent's last turn; /revert session: all of it",
    run: (rest) => task(revert(rest)),
  },
  discard: { usage: '/discard [file]', text: 'throw away what is not committed', run: (rest) => task(discard(rest)) },
  undo: { usage: '/undo', text: 'put back what was reverted or discarded', run: () => task(undo) },
  stage: { usage: '/stage [file]', text: 'for the next commit', run: (rest) => task(stage('stage', rest)) },
  unstage: { usage: '/unstage [file]', text: 'not for the next commit', run: (rest) => task(stage('unstage', rest)) },
  commit: { usage: '/commit', text: 'commit what is staged, or everything', run: () => task(commit) },
  files: { usage: '/files [folder]', text: 'what is in the folder', run: (rest) => task(files(rest)) },
  open: { usage: '/open <file>', text: 'show a file', run: (rest) => task(open(rest)) },
  terminal: {
    usage: '/terminal [id]',
    text: 'where its command runs; Ctrl+] comes back',
    run: (rest) => task(terminal(rest)),
  },
  detach: {
    usage: '/detach',
    text: 'let the running command go on in the background',
    run: () => task(detach),
  },
  background: { usage: '/background', text: 'what runs in the background', run: () => task(background) },
  resume: { usage: '/resume', text: 'go on where the last turn failed', run: resume },
  unqueue: { usage: '/unqueue', text: 'take back the message that waits last', run: unqueue },
  quit: { usage: '/quit', text: 'leave; the session stays', run: () => ({ kind: 'leave', to: 'shell' }) },
};
const ALIASES: Readonly<Record<string, string>> = { exit: 'quit' };

export function slash(text: string, facts: SlashFacts): SlashOutcome | undefined {
  const [, typed = '', rest = ''] = /^\/([a-z]+)(?:\s+(.*))?$/s.exec(text.trim()) ?? [];
  const name = ALIASES[typed] ?? typed;
  return Object.hasOwn(COMMANDS, name) ? COMMANDS[name]?.run(rest.trim(), facts) : undefined;
}

/** Suggests the command behind a typing error. */
export const COMMAND_NAMES: readonly string[] = [...Object.keys(COMMANDS), ...Object.keys(ALIASES)];

interface Suggestion {
  readonly name: string;
  readonly usage: string;
  readonly text: string;
}

/** The commands that a text may become. */
export function suggestions(text: string): Suggestion[] {
  if (!/^\/[a-z]*$/.test(text)) return [];
  return Object.entries(COMMANDS).flatMap(([name, { usage, text: meaning }]) =>
    `/${name}`.startsWith(text) ? [{ name, usage, text: meaning }] : [],
  );
}

function helpText(): string {
  const rows = Object.values(COMMANDS);
  const width = Math.max(...rows.map(({ usage }) => usage.length));
  return [KEYS, ...rows.map(({ usage, text }) => `${usage.padEnd(width)}  ${text}`)].join('\n');
}

function title(words: string): SlashOutcome {
  if (words === '') return note('Write the title behind it: /title My session');
  return { kind: 'act', action: { type: 'session/titleChanged', title: words } };
}

function model(id: string, { model: current, models }: SlashFacts): SlashOutcome {
  if (id === '') return note(modelsText(current, models));
  if (models.length > 0 && !models.includes(id))
    return note(`The agent has no model ${id}.\n${modelsText(current, models)}`);
  const doubt = models.length === 0 ? ' The agent does not say which models it has, so the next turn may fail.' : '';
  return { kind: 'model', id, text: `From the next turn on: ${id}.${doubt}` };
}

function modelsText(current: string | undefined, models: readonly string[]): string {
  const now = `The model is ${current ?? 'the default of the agent'}. To change it: /model <id>`;
  const rest = models.length - MODELS_SHOWN_MAX;
  const shown = models.slice(0, MODELS_SHOWN_MAX).map((id) => `  ${id}`);
  return [now, ...shown, ...(rest > 0 ? [`  and ${rest} more`] : [])].join('\n');
}

function auto(word: string): SlashOutcome {
  if (word !== 'on' && word !== 'off') return note('Write /auto on or /auto off.');
  const text = word === 'on' ? 'Tools run without asking in this session.' : 'Tools ask first.';
  return { kind: 'act', action: { type: 'session/configChanged', config: { autoApprove: word === 'on' } }, text };
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
