/**
 * The programs that a folder would start: each as a line that a person can judge, and as a digest that changes with
 * everything that decides what runs. People trust digests, so trust never covers a program that they have not seen.
 */
import { createHash } from 'node:crypto';
import path from 'node:path';
import { isInside } from '@atrium/core/util/paths.js';
import { isRecord } from '@atrium/core/util/shape.js';
import { visibleText } from '@atrium/protocol/ahp-1';
import type { AgentEntry, ProviderConfig } from '../../config/config-schema.js';
import type { HookCommand } from '../formats/hook-declarations.js';
import type { McpServerConfig } from '../formats/mcp-declarations.js';

/** Nobody can judge a longer line, so such a program does not start. */
export const PROGRAM_LINE_MAX_CHARACTERS = 4_000;
/** All programs of one question; the host asks about the others afterwards. */
const PROGRAMS_QUESTION_MAX_CHARACTERS = 16_000;
export const PROGRAMS_QUESTION_MAX = 100;

export interface Program {
  /** On one line, with invisible characters spelled out, so that it cannot look like text of the host. */
  readonly line: string;
  readonly digest: string;
}

/** The plugin of a program. A manifest may claim any name, so the place counts, too. */
export interface ProgramOwner {
  readonly name: string;
  /** Relative to the session's folder if it is inside. */
  readonly place: string;
}

interface Facts {
  readonly kind: string;
  readonly name: string;
  readonly owner?: ProgramOwner | undefined;
  /** The whole declaration, before variables of the host's environment are inserted. */
  readonly declared: unknown;
  readonly runs: string;
  readonly details?: readonly (string | undefined)[];
}

function program({ kind, name, owner, declared, runs, details = [] }: Facts): Program {
  const digest = createHash('sha256')
    .update(JSON.stringify([kind, name, owner?.name, owner?.place, sorted(declared)]))
    .digest('hex');
  const of = owner ? ` of plugin ${word(owner.name)} in ${word(owner.place)}` : '';
  const lines = details.filter((detail) => detail !== undefined);
  return { line: `${kind} ${word(name)}${of}: ${runs}${lines.length > 0 ? ` (${lines.join('; ')})` : ''}`, digest };
}

export function providerProgram(name: string, config: ProviderConfig, folder: string): Program {
  const { args = [], env = {}, cwd, ...rest } = config;
  const command = placeIn(folder, config.command);
  const where = cwd === undefined ? undefined : placeIn(folder, cwd);
  const declared = { ...rest, command, args, env, cwd: where };
  const details = [startsIn(where), sets(env)];
  return program({ kind: 'provider', name, declared, runs: commandLine(command, args), details });
}

/** An agent of a project's configuration: a program, or a server that receives conversations. */
export function agentProgram(id: string, entry: AgentEntry, folder: string): Program {
  const isCommand = 'command' in entry;
  const cwd = isCommand && entry.cwd !== undefined ? placeIn(folder, entry.cwd) : undefined;
  const command = isCommand ? placeIn(folder, entry.command) : undefined;
  const env = ('env' in entry && entry.env) || {};
  const declared = { ...entry, ...(isCommand && { command, cwd }) };
  const address =
    'baseURL' in entry && entry.baseURL !== undefined
      ? `asks ${word(shownAddress(entry.baseURL))}`
      : 'changes an agent';
  const key = 'apiKeyEnv' in entry && entry.apiKeyEnv !== undefined ? `sends ${word(entry.apiKeyEnv)}` : undefined;
  const runs = command === undefined ? address : commandLine(command, (isCommand && entry.args) || []);
  return program({ kind: 'agent', name: id, declared, runs, details: [key, startsIn(cwd), sets(env)] });
}

/** A permission rule of a project that allows something. It starts nothing, but a person trusts it in the same way. */
export function ruleProgram(rule: string): Program {
  return program({ kind: 'rule', name: 'allow', declared: rule, runs: visibleText(rule, 'line') });
}

/**
 * `declared`: read without the host's environment, so that neither the digest nor the line contains a secret of the
 * host.
 */
export function serverProgram(name: string, declared: McpServerConfig, owner?: ProgramOwner): Program {
  const facts = { kind: 'MCP server', name, owner, declared };
  if (declared.transport !== 'stdio') {
    const headers = Object.keys(declared.headers);
    const details = [headers.length > 0 ? `sends the headers ${words(headers)}` : undefined];
    return program({ ...facts, runs: `connects to ${word(shownAddress(declared.url))}`, details });
  }
  const { command, args, env, cwd } = declared;
  const details = [startsIn(cwd), sets(env)];
  return program({ ...facts, runs: commandLine(command, args), details });
}

/**
 * The address that is really contacted: a backslash ends the host name as a slash does, and letters of other scripts
 * are looked up in another spelling. A name and a password before the "@" stay hidden, and must not hide the host name.
 */
function shownAddress(declared: string): string {
  if (!URL.canParse(declared)) return declared;
  const { protocol, username, password, host, pathname, search, hash } = new URL(declared);
  const secret = username === '' && password === '' ? '' : '…@';
  const place = `${protocol}//${secret}${host}${pathname}${search}${hash}`;
  // Variables are shown as they are declared.
  return place.replace(/\$%7B(\w+)%7D/gi, '${$1}');
}

interface DeclaredHook {
  readonly event: string;
  readonly matcher?: string | undefined;
  readonly action: HookCommand;
}

export function hookProgram({ event, matcher, action }: DeclaredHook, owner: ProgramOwner): Program {
  const { command, shell, cwd, env } = action;
  const details = [
    matcher === undefined ? undefined : `for ${word(matcher)}`,
    shell === 'default' ? undefined : `by ${shell}`,
    startsIn(cwd),
    sets(env),
  ];
  const declared = { matcher, action };
  return program({ kind: 'hook', name: event, owner, declared, runs: visibleText(command, 'line'), details });
}

/** A path as a question shows it: relative to the folder if it is inside, however the folder was reached. */
export function placeIn(folder: string, place: string): string {
  if (!path.isAbsolute(place) || !isInside(folder, place)) return place;
  const inner = path.relative(folder, place).split(path.sep).join('/');
  return inner === '' ? '.' : `./${inner}`;
}

function commandLine(command: string, args: readonly string[]): string {
  return words([command, ...args]);
}

function startsIn(folder: string | undefined): string | undefined {
  return folder === undefined ? undefined : `in ${word(folder)}`;
}

/** Variables that make a program load or run something else; their values are part of what would start. */
const LOADS_CODE =
  /^(PATH|LD_\w+|DYLD_\w+|NODE_(OPTIONS|PATH)|PYTHON(PATH|STARTUP|HOME)|BASH_ENV|ENV|PERL5(OPT|LIB|DB)|RUBY(OPT|LIB)|GIT_(CONFIG|EXEC)_\w+|npm_config_\w*(shell|script|prefix|node)\w*|\w+_(COMMAND|OPTIONS|OPTS|FLAGS|WRAPPER))$/i;

/** Other values may be secrets, and are not shown. */
function sets(env: Readonly<Record<string, unknown>>): string | undefined {
  const lines = Object.entries(env).map(([name, value]) =>
    typeof value === 'string' && LOADS_CODE.test(name) ? `${word(name)}=${word(value)}` : word(name),
  );
  return lines.length === 0 ? undefined : `sets ${lines.join(' ')}`;
}

function words(texts: readonly string[]): string {
  return texts.map(word).join(' ');
}

/** Quotes everything except a plain word, so that one argument does not look like two. */
export function word(text: string): string {
  if (/^[\w@%+=:,./~^${}[\]*?!#&…-]+$/.test(text)) return text;
  const escaped = text.replace(
    /(\\*)("|$)/g,
    (_, slashes: string, quote: string) => slashes + slashes + (quote && '\\"'),
  );
  return `"${visibleText(escaped, 'line')}"`;
}

/** Sorts the members, so that their order does not change the digest. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isRecord(value)) return value;
  const entries = Object.entries(value).filter(([, each]) => each !== undefined);
  return Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1)).map(([key, each]) => [key, sorted(each)]));
}

export function isShowable({ line }: Program): boolean {
  return line.length <= PROGRAM_LINE_MAX_CHARACTERS;
}

/** As many programs as one question can show in full. */
export function askedTogether(programs: readonly Program[]): readonly Program[] {
  let characters = 0;
  const showable = programs.filter(isShowable).slice(0, PROGRAMS_QUESTION_MAX);
  return showable.filter(({ line }) => {
    characters += line.length;
    return characters <= PROGRAMS_QUESTION_MAX_CHARACTERS;
  });
}

/** Indentation makes Markdown show the lines as they are, and separates them from text of the host in plain text. */
export function quoted(lines: readonly string[]): readonly string[] {
  return ['', ...lines.map((line) => `    ${line}`), ''];
}
