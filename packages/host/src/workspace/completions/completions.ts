/**
 * Completions at the caret of a message: `@` for files and agents, `#` for symbols, `/` for skills and prompts. An
 * accepted completion comes back as an attachment of the message.
 */

import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { RequestError } from '@atrium/core/contracts/request-error.js';
import type { Service, ServiceRequests } from '@atrium/core/sessions/service.js';
import { childrenOf } from '@atrium/core/sessions/session-rules.js';
import type { Clock } from '@atrium/core/util/clock.js';
import { foldersOf, isFolder, pathOfUri } from '@atrium/core/util/folders.js';
import {
  argumentsHint,
  type ChildCustomization,
  type CompletionItem,
  type CompletionsParams,
  type Customization,
  ErrorCode,
  FOLDER_COMPLETIONS_METHOD,
  type FolderCompletions,
  isChildEnabled,
  type MessageAttachment,
  type OfferedPrompt,
  offeredPrompts,
  type SessionState,
  SOURCE_META_KEY,
} from '@atrium/protocol/ahp-1';
import { type FoundSymbol, ProjectIndex } from './project-index.js';

const TRIGGERS: readonly string[] = ['@', '#', '/'];
/** Longer words are not mentions. */
const MENTION_MAX_CHARACTERS = 500;
export const COMPLETIONS_MAX = 50;

/** The part of the host that completions use. */
interface CompletionsHost {
  readonly clock: Clock;
  readonly sessions: {
    open(uri: string): Promise<{ readonly state: SessionState } | undefined>;
    /** The session of a channel: the channel itself, or the session of the chat. */
    sessionUriOf(uri: string): string;
  };
  unknownChannel(uri: string): RequestError;
  /** What customizes sessions in a folder, before there is one. */
  readonly customizations: { entriesIn(folder: string): Promise<readonly Customization[]> } | undefined;
}

/** What the candidates are taken from. */
type Located = Pick<SessionState, 'workingDirectories' | 'customizations'>;

export class Completions implements Service {
  readonly #host: CompletionsHost;
  readonly #index: ProjectIndex;
  readonly requests: ServiceRequests = { completions: (_connection, params) => this.#complete(params) };
  readonly extensionRequests: Service['extensionRequests'] = {
    [FOLDER_COMPLETIONS_METHOD]: (_connection, params) => this.#completeIn(params),
  };
  /** Finding files must not delay other requests. */
  readonly lanes = { completions: 'free', [FOLDER_COMPLETIONS_METHOD]: 'free' } as const;
  readonly greeting = { completionTriggerCharacters: TRIGGERS };

  constructor(host: CompletionsHost) {
    this.#host = host;
    this.#index = new ProjectIndex(host.clock);
  }

  async #complete({ channel, text, offset }: CompletionsParams): Promise<{ items: CompletionItem[] }> {
    const { sessions } = this.#host;
    // Some clients send the URI of the session instead of the chat's.
    const session = await sessions.open(sessions.sessionUriOf(channel));
    if (!session) throw this.#host.unknownChannel(channel);
    return this.#found(text, offset, async () => session.state);
  }

  /** For a message that will begin a session in this folder. */
  async #completeIn({ workingDirectory, text, offset }: Members): Promise<FolderCompletions> {
    const folder = typeof workingDirectory === 'string' ? pathOfUri(workingDirectory) : undefined;
    if (folder === undefined || !(await isFolder(folder))) {
      throw new RequestError(ErrorCode.InvalidParams, '/workingDirectory must be the URI of a folder on this machine');
    }
    if (typeof text !== 'string') throw new RequestError(ErrorCode.InvalidParams, '/text must be a string');
    return this.#found(text, Number(offset), async () => ({
      workingDirectories: [pathToFileURL(folder).href],
      customizations: [...((await this.#host.customizations?.entriesIn(folder)) ?? [])],
    }));
  }

  async #found(text: string, offset: number, located: () => Promise<Located>): Promise<{ items: CompletionItem[] }> {
    if (!Number.isInteger(offset) || offset < 0 || offset > text.length) {
      throw new RequestError(ErrorCode.InvalidParams, `/offset must be within the text: 0 to ${text.length}`);
    }
    const mention = mentionAt(text, offset);
    if (!mention) return { items: [] };
    const candidates = await this.#candidates(await located(), mention);
    const items = best(candidates, ({ name }) => name, mention.query, COMPLETIONS_MAX);
    return { items: items.map((item) => completionOf(item, mention)) };
  }

  async #candidates(state: Located, { trigger, query }: Mention): Promise<readonly Candidate[]> {
    if (trigger === '/')
      return [
        ...customizationsOf(state).flatMap((it) => commandOf(it) ?? []),
        ...offeredPrompts(state).map(promptCandidate),
      ];
    const places = placesOf(foldersOf(state));
    if (trigger === '#') return (await Promise.all(places.map((place) => this.#symbols(place, query)))).flat();
    const agents = customizationsOf(state).flatMap((it) => agentOf(it) ?? []);
    const files = await Promise.all(places.map((place) => this.#files(place, query)));
    return [...agents, ...files.flat()];
  }

  async #files({ folder, prefix }: Place, query: string): Promise<readonly Candidate[]> {
    const names = (await this.#index.files(folder)).map((name) => ({ name, shown: `${prefix}${name}` }));
    const near = best(names, ({ shown }) => shown, query, COMPLETIONS_MAX);
    return near.map(({ name, shown }) => fileCandidate(path.join(folder, name), shown));
  }

  async #symbols({ folder, prefix }: Place, query: string): Promise<readonly Candidate[]> {
    const near = best(await this.#index.symbols(folder), ({ name }) => name, query, COMPLETIONS_MAX);
    return near.map((symbol) => symbolCandidate(path.join(folder, symbol.file), symbol, prefix));
  }
}

type Members = Readonly<Record<string, unknown>>;

interface Place {
  readonly folder: string;
  /** Names the file's folder, if that is not the first folder. */
  readonly prefix: string;
}

function placesOf(folders: readonly string[]): Place[] {
  return folders.map((folder, index) => ({ folder, prefix: index === 0 ? '' : `${path.basename(folder)}/` }));
}

function completionOf({ insertText, attachment }: Candidate, { start, end }: Mention): CompletionItem {
  return { insertText: `${insertText} `, rangeStart: start, rangeEnd: end, attachment };
}

interface Candidate {
  /** The name that is matched and shown. */
  readonly name: string;
  readonly insertText: string;
  readonly attachment: MessageAttachment;
}

function fileCandidate(file: string, name: string): Candidate {
  const uri = pathToFileURL(file).href;
  return { name, insertText: `@${name}`, attachment: { type: 'resource', label: name, uri, displayKind: 'document' } };
}

function symbolCandidate(place: string, { name, kind, file, line }: FoundSymbol, prefix: string): Candidate {
  const range = { start: { line, character: 0 }, end: { line: line + 1, character: 0 } };
  return {
    name,
    insertText: `#${name}`,
    attachment: {
      type: 'resource',
      label: `${name} (${kind} in ${prefix}${file})`,
      uri: pathToFileURL(place).href,
      displayKind: 'symbol',
      selection: { range },
    },
  };
}

interface Named {
  readonly child: ChildCustomization;
  readonly prefix: string;
  /** The plugin or the directory that it comes from. */
  readonly source: string;
}

/** The customizations that are switched on, each with its plugin. */
function customizationsOf({ customizations = [] }: Located): readonly Named[] {
  return customizations.flatMap((entry) => {
    const prefix = entry.type === 'plugin' ? `${entry.name}:` : '';
    const children = childrenOf(entry).filter((child) => isChildEnabled(entry, child));
    return children.map((child) => ({ child, prefix, source: entry.name }));
  });
}

function commandOf({ child, prefix, source }: Named): Candidate | undefined {
  if (child.type !== 'skill' && child.type !== 'prompt') return undefined;
  const name = `${prefix}${child.name}`;
  return { name, insertText: `/${name}`, attachment: simple(child, name, source) };
}

/** A prompt of an MCP server. The person sees which arguments it takes, and which server it comes from. */
function promptCandidate(prompt: OfferedPrompt): Candidate {
  const { command, description, server, uri } = prompt;
  const hint = argumentsHint(prompt);
  const about = [hint, description ?? ''].filter((part) => part !== '').join(' — ');
  return {
    name: command,
    insertText: `/${command}`,
    attachment: {
      type: 'simple',
      label: command,
      displayKind: 'prompt',
      modelRepresentation: `The prompt "${command}"${about === '' ? '' : `: ${about}`}`,
      _meta: { uri, [SOURCE_META_KEY]: `MCP server ${server}` },
    },
  };
}

function agentOf({ child, prefix, source }: Named): Candidate | undefined {
  if (child.type !== 'agent') return undefined;
  const name = `${prefix}${child.name}`;
  return { name, insertText: `@${name}`, attachment: simple(child, name, source) };
}

function simple(child: ChildCustomization, name: string, source: string): MessageAttachment {
  const about = 'description' in child && child.description ? `: ${child.description}` : '';
  return {
    type: 'simple',
    label: name,
    displayKind: child.type,
    modelRepresentation: `The ${child.type} "${name}"${about}`,
    _meta: { uri: child.uri, [SOURCE_META_KEY]: source },
  };
}

interface Mention {
  readonly trigger: '@' | '#' | '/';
  /** The text between the trigger and the caret. */
  readonly query: string;
  /** The whole word including the trigger, in UTF-16 units; an accepted completion replaces it. */
  readonly start: number;
  readonly end: number;
}

export function mentionAt(text: string, offset: number): Mention | undefined {
  const before = text.slice(Math.max(0, offset - MENTION_MAX_CHARACTERS), offset);
  const typed = /(?:^|[\s([{"'`])([@#/]\S*)$/.exec(before)?.[1];
  if (typed === undefined) return undefined;
  const start = offset - typed.length;
  const trigger = typed[0] as Mention['trigger'];
  if (trigger === '/' && text.slice(0, start).trim() !== '') return undefined;
  const rest = /^\S*/.exec(text.slice(offset, offset + MENTION_MAX_CHARACTERS))?.[0] ?? '';
  return { trigger, query: typed.slice(1), start, end: offset + rest.length };
}

/** The best matches; among equals, shorter names come first. Each key stroke may search tens of thousands. */
export function best<Item>(items: Iterable<Item>, nameOf: (item: Item) => string, query: string, max: number): Item[] {
  const found: Ranked<Item>[] = [];
  for (const item of items) {
    const name = nameOf(item);
    const place = rank(name, query);
    const last = found.at(-1);
    if (place === undefined) continue;
    const ranked = { item, name, place };
    if (found.length < max || !last || compare(ranked, last) < 0) insert(found, ranked, max);
  }
  return found.map(({ item }) => item);
}

/** How well a name matches the typed text: lower is better, undefined means not at all. */
function rank(name: string, query: string): number | undefined {
  if (query === '') return 0;
  const [lower, wanted] = [name.toLowerCase(), query.toLowerCase()];
  const last = lower.slice(lower.lastIndexOf('/') + 1);
  if (last.startsWith(wanted)) return 0;
  if (last.includes(wanted)) return 1;
  if (lower.includes(wanted)) return 2;
  return isScattered(lower, wanted) ? 3 : undefined;
}

/** Whether the letters occur in this order: `srvts` in `src/server.ts`. */
function isScattered(name: string, letters: string): boolean {
  let at = -1;
  for (const letter of letters) {
    at = name.indexOf(letter, at + 1);
    if (at < 0) return false;
  }
  return true;
}

interface Ranked<Item> {
  readonly item: Item;
  readonly name: string;
  readonly place: number;
}

/** Inserts in order, and drops the last item beyond the limit. */
function insert<Item>(found: Ranked<Item>[], ranked: Ranked<Item>, max: number): void {
  const at = found.findIndex((other) => compare(ranked, other) < 0);
  found.splice(at < 0 ? found.length : at, 0, ranked);
  if (found.length > max) found.pop();
}

function compare(one: Ranked<unknown>, other: Ranked<unknown>): number {
  return one.place - other.place || one.name.length - other.name.length || (one.name < other.name ? -1 : 1);
}
