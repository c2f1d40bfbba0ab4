/**
 * The commands of all our clients, in one table. The page and the terminal take names, arguments, descriptions and
 * completions from here, and do not compile without a handler for every name.
 */
import type { AgentInfo } from '../root/state.js';
import { modelChoices } from './model-words.js';

interface BuiltinCommand {
  readonly name: string;
  /** Other names, which are not listed. */
  readonly aliases?: readonly string[];
  /** As shown after the name: `<text>` is required, `[text]` is optional. */
  readonly argument?: string;
  /** What it does, in a few words. */
  readonly text: string;
  /** How its argument is completed: one of these words, a model with its options, or a file of the session's folder. */
  readonly completes?: readonly string[] | 'model' | 'file';
}

export const BUILTIN_COMMANDS = [
  { name: 'help', text: 'keys and commands' },
  { name: 'new', text: 'a new session, with this agent and folder' },
  { name: 'sessions', text: 'another session' },
  { name: 'search', argument: '<words>', text: 'find words in all sessions' },
  { name: 'find', argument: '<words>', text: 'find words in this session, also far above' },
  { name: 'chats', text: 'the chats of this session, and its workers' },
  { name: 'chat', argument: '[text]', text: 'another chat in this session' },
  { name: 'fork', argument: '[text]', text: 'a copy of this chat, to go on in another way' },
  { name: 'aside', argument: '<text>', text: 'a question beside this chat, which knows it' },
  { name: 'close', text: 'close this chat; the first one stays' },
  { name: 'compact', argument: '[what to keep]', text: 'sum up the conversation so far, to make room' },
  {
    name: 'model',
    argument: '[id] [option=value]',
    text: 'another model, or how hard it thinks; alone: which there are',
    completes: 'model',
  },
  { name: 'pin', text: 'keep this session above others, or no longer' },
  { name: 'rename', aliases: ['title'], argument: '<text>', text: 'rename the session' },
  { name: 'archive', text: 'put this session aside, or take it back' },
  { name: 'paste', text: 'attach the picture that is in the clipboard' },
  { name: 'export', argument: '[file]', text: 'save the conversation to a file' },
  { name: 'cost', text: 'what this session used, and what it cost' },
  {
    name: 'budget',
    argument: '[which] [limit]',
    text: 'session, project or day, up to $5 or 2M tokens; off removes it',
    completes: ['session', 'project', 'day'],
  },
  { name: 'auto', argument: 'on|off', text: 'run tools without asking, or ask again', completes: ['on', 'off'] },
  {
    name: 'mode',
    argument: '[which]',
    text: 'what runs without asking: plan, ask, accept-edits or auto',
    completes: ['plan', 'ask', 'accept-edits', 'auto'],
  },
  { name: 'plan', argument: '[text]', text: 'plan mode: only look, and end with a plan to accept' },
  {
    name: 'permissions',
    argument: '[rule]',
    text: 'rules for what may run: allow, ask, deny, remove, test',
    completes: ['allow', 'ask', 'deny', 'remove', 'test'],
  },
  {
    name: 'changes',
    argument: '[which]',
    text: 'changed files: turn, session or uncommitted',
    completes: ['turn', 'session', 'uncommitted'],
  },
  { name: 'diff', argument: '[file]', text: 'line by line', completes: 'file' },
  {
    name: 'revert',
    argument: '[file]',
    text: "take back the agent's last turn; /revert session: all of it",
    completes: 'file',
  },
  { name: 'discard', argument: '[file]', text: 'throw away uncommitted changes', completes: 'file' },
  { name: 'undo', text: 'take back the last message and its files; after /revert or /discard: undo that' },
  { name: 'redo', text: 'undo the last /undo or /rewind, until the next message' },
  { name: 'rewind', argument: '[number]', text: 'go back to a message: conversation, files, or both' },
  { name: 'stage', argument: '[file]', text: 'for the next commit', completes: 'file' },
  { name: 'unstage', argument: '[file]', text: 'not for the next commit', completes: 'file' },
  { name: 'commit', text: 'commit what is staged, or everything' },
  { name: 'board', text: 'the sessions of this project side by side, and their branches' },
  { name: 'files', argument: '[folder]', text: 'list the folder' },
  { name: 'open', argument: '<file>', text: 'a file, at a line: src/app.ts:12', completes: 'file' },
  { name: 'terminal', argument: '[id]', text: 'enter the terminal of the running command' },
  { name: 'detach', text: 'let the running command go on in the background' },
  { name: 'background', text: 'what runs in the background' },
  { name: 'resume', text: 'continue where the last turn failed' },
  { name: 'unqueue', text: 'take back the last queued message' },
  {
    name: 'notify',
    argument: '[on|off|test]',
    text: 'notify you when a session needs you and you look elsewhere',
    completes: ['on', 'off', 'test'],
  },
  { name: 'instructions', text: 'the AGENTS.md and CLAUDE.md that the agent reads here' },
  { name: 'devices', text: 'list devices, add one, or remove one' },
  {
    name: 'share',
    argument: '[12h] [without …]',
    text: 'a link that shows this session to others, for reading; /share list, /share end <id>',
    completes: ['list', 'end', 'without'],
  },
  { name: 'settings', text: 'list the settings and their values' },
  {
    name: 'theme',
    argument: '[name]',
    text: 'choose the theme',
    completes: ['system', 'light', 'dark', 'contrast', 'sand', 'midnight'],
  },
  { name: 'quit', aliases: ['exit'], text: 'leave; the session stays' },
] as const satisfies readonly BuiltinCommand[];

export type BuiltinName = (typeof BUILTIN_COMMANDS)[number]['name'];

const ALL: readonly (BuiltinCommand & { readonly name: BuiltinName })[] = BUILTIN_COMMANDS;

/** All names, including unlisted ones: they are suggested for a typing error. */
export const BUILTIN_NAMES: readonly string[] = ALL.flatMap(({ name, aliases = [] }) => [name, ...aliases]);

/** The command as it is typed: `/model [id]`. */
export function usageOf({ name, argument }: Pick<BuiltinCommand, 'name' | 'argument'>): string {
  return argument === undefined ? `/${name}` : `/${name} ${argument}`;
}

/** The command in a message, and the text after it; undefined for any other text. */
export function builtinIn(text: string): { readonly name: BuiltinName; readonly rest: string } | undefined {
  const [, typed = '', rest = ''] = /^\/([a-z]+)(?:\s+(.*))?$/s.exec(text.trim()) ?? [];
  const command = commandOf(typed);
  return command && { name: command.name, rest: rest.trim() };
}

function commandOf(typed: string): (typeof ALL)[number] | undefined {
  return ALL.find(({ name, aliases = [] }) => name === typed || aliases.includes(typed));
}

/** A completion of the line. */
export interface CommandChoice {
  readonly label: string;
  readonly about: string;
  /** The whole line with the completion, and the new position of the cursor. */
  readonly text: string;
  readonly cursor: number;
}

export interface ArgumentFacts {
  readonly models: AgentInfo['models'];
  /** The model that messages are now sent with. */
  readonly model?: string | undefined;
}

/** Completes the name of a command at the cursor, or its argument. The host finds files: see `fileArgument`. */
export function completeCommand(text: string, cursor: number, facts: ArgumentFacts): readonly CommandChoice[] {
  if (/^\/[a-z]*$/.test(text) && cursor === text.length) return nameChoices(text);
  const typed = argumentAt(text, cursor);
  if (!typed) return [];
  const { completes } = typed.command;
  const { before, start, word } = typed;
  const offered = completes === 'model' ? modelChoices(before, facts) : wordChoices(completes, before);
  return offered.flatMap(({ label, about }) => {
    const line = `${text.slice(0, start)}${label}${label.endsWith('=') ? '' : ' '}`;
    const isNear = label.toLowerCase().includes(word.toLowerCase()) && label !== word;
    return isNear ? [{ label, about, text: line + text.slice(cursor).trimStart(), cursor: line.length }] : [];
  });
}

/** The part of a file name that was typed as the argument of a command, and where it begins. */
export function fileArgument(
  text: string,
  cursor: number,
): { readonly word: string; readonly start: number } | undefined {
  const typed = argumentAt(text, cursor);
  return typed?.command.completes === 'file' && typed.before.length === 0
    ? { word: typed.word, start: typed.start }
    : undefined;
}

function nameChoices(typed: string): CommandChoice[] {
  // A name that is typed in full is the one meant, even if a longer one is listed above it.
  const inOrder = [...ALL].sort((one, other) => Number(`/${other.name}` === typed) - Number(`/${one.name}` === typed));
  return inOrder.flatMap((command) => {
    const line = `/${command.name}${command.argument === undefined ? '' : ' '}`;
    const isMeant = `/${command.name}`.startsWith(typed);
    return isMeant ? [{ label: usageOf(command), about: command.text, text: line, cursor: line.length }] : [];
  });
}

interface TypedArgument {
  readonly command: (typeof ALL)[number];
  /** The words between the command and the cursor's word. */
  readonly before: readonly string[];
  readonly word: string;
  readonly start: number;
}

function argumentAt(text: string, cursor: number): TypedArgument | undefined {
  const [, name = '', words = '', word = ''] = /^\/([a-z]+)\s+((?:\S+\s+)*)(\S*)$/.exec(text.slice(0, cursor)) ?? [];
  const command = commandOf(name);
  if (!command) return undefined;
  return { command, before: words.split(/\s+/).filter(Boolean), word, start: cursor - word.length };
}

function wordChoices(
  words: BuiltinCommand['completes'],
  before: readonly string[],
): { label: string; about: string }[] {
  if (before.length > 0 || typeof words !== 'object') return [];
  return words.map((label) => ({ label, about: '' }));
}
