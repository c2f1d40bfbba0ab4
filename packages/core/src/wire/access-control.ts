/**
 * Decides what a connection may see and do: the table of the protocol gives the role that each action needs, and the
 * folders of a session decide whether it is within the connection's bounds. What is out of bounds looks like what does
 * not exist: the host answers both with the same words.
 */
import { createHash } from 'node:crypto';
import { isAbsolute } from 'node:path';
import {
  CHANNEL_RULES,
  channelKind,
  ErrorCode,
  hasRole,
  highest,
  isHostContent,
  leastForAction,
  leastForRequest,
  type Role,
  ruleForRequest,
  type StateAction,
  withImplied,
} from '@atrium/protocol/ahp-1';
import type { Access } from '../contracts/access.js';
import type { Caller } from '../contracts/ports.js';
import { RequestError } from '../contracts/request-error.js';
import { pathOfUri } from '../util/folders.js';
import { isInside, realPathSync } from '../util/paths.js';
import { unknownChannel } from './unknown-channel.js';

type Params = Readonly<Record<string, unknown>>;

/** Where a session works. */
export interface SessionPlace {
  readonly workingDirectories?: readonly string[] | undefined;
  /** The repository behind a worktree that the host made. */
  readonly project?: { readonly uri: string } | undefined;
}

/** The owner of a terminal. */
export interface TerminalOwner {
  readonly session?: string;
  readonly clientId?: string;
  /** The folder in which it was started, as a URI. */
  readonly folder?: string | undefined;
}

/** Looks up facts about channels. */
export interface AccessFacts {
  /**
   * Where a session works, or worked if its removal is just being announced; undefined when there is no such session.
   */
  placeOf(session: string): SessionPlace | undefined;
  /** The session to which a chat, a changeset, an annotations channel or a content belongs. */
  sessionOf(uri: string): string | undefined;
  ownerOf(terminal: string): TerminalOwner | undefined;
  /** True for a chat that a tool call opened for a worker. */
  isWorkerChat(chat: string): boolean;
}

/** The only requests that a share may send: those about its own session. */
const OF_SHARES: ReadonlySet<string> = new Set([
  ...['initialize', 'reconnect', 'ping', 'subscribe', 'listSessions', 'fetchTurns', 'resourceRead'],
]);

/** The parameters in which a request may name working folders for a session or a terminal. */
const FOLDER_PARAMS = ['workingDirectory', 'workingDirectories', 'folder', 'cwd', 'directory'] as const;

/** How long a folder's resolved real path is reused. */
export const REAL_PATHS_FRESH_MS = 1_000;
/** How many folders' real paths are remembered. */
const REAL_PATHS_MAX = 1_000;

export class AccessControl {
  readonly #realPaths = new Map<string, { readonly real: string; readonly until: number }>();

  constructor(
    private readonly facts: AccessFacts,
    private readonly now: () => number,
  ) {}

  /** True when this access sees a session, or would see it if it existed. */
  sees({ bounds }: Access, session: string): boolean {
    if (!bounds) return true;
    if (bounds.sessions?.includes(session)) return true;
    if (!bounds.folders) return false;
    const place = this.facts.placeOf(session);
    return place !== undefined && this.#isWithin(bounds.folders, place);
  }

  /** True when a folder, given as a path, lies within the bounds, also after links are resolved. */
  hasFolder({ bounds }: Access, folder: string): boolean {
    if (!bounds) return true;
    const real = this.#real(folder);
    return (bounds.folders ?? []).some((bound) => isInside(this.#real(bound), real));
  }

  /**
   * The real paths of the folders whose files this access may use; undefined when it may use all that the host offers.
   */
  foldersOf({ bounds }: Access): readonly string[] | undefined {
    if (!bounds) return undefined;
    const ofSessions = (bounds.sessions ?? []).flatMap(
      (session) => this.facts.placeOf(session)?.workingDirectories ?? [],
    );
    const paths = ofSessions.flatMap((uri) => pathOfUri(uri) ?? []);
    return [...(bounds.folders ?? []), ...paths].map((folder) => this.#real(folder));
  }

  /**
   * True when a channel exists for this connection. The role that its kind needs is another question: see
   * `checkChannel`.
   */
  isVisible({ access, identity }: Pick<Caller, 'access' | 'identity'>, channel: string): boolean {
    if (!isLimited(access)) return true;
    const kind = channelKind(channel);
    if (kind === 'root') return true;
    if (kind === 'terminal') return this.#seesTerminal(access, channel, identity?.clientId);
    // Such a channel has a name that nobody can guess, and only the client that opened it is told the name.
    if (kind === 'resourceWatch') return true;
    if (kind === 'automation' || kind === 'automationRun' || kind === 'otlp' || kind === 'mcp')
      return access.bounds === undefined && access.credential.kind !== 'share';
    const session = this.facts.sessionOf(channel) ?? channel;
    return this.sees(access, session) && !this.#isHidden(access, channel);
  }

  /** True when a channel would show what the maker of a share left out. */
  #isHidden(access: Access, channel: string): boolean {
    const leftOut = withImplied(access.leftOut ?? []);
    if (leftOut.length === 0) return false;
    const kind = channelKind(channel);
    if (kind === 'changeset' || kind === 'annotations' || kind === 'canvas')
      return leftOut.includes('fileContents') || leftOut.includes('folders') || kind !== 'changeset';
    const hasCalls = !leftOut.includes('toolInput') && !leftOut.includes('toolOutput');
    return kind === 'chat' && !hasCalls && this.facts.isWorkerChat(channel);
  }

  #seesTerminal(access: Access, terminal: string, clientId: string | undefined): boolean {
    const { leftOut = [], bounds, credential } = access;
    if (credential.kind === 'share' && leftOut.length > 0) return false;
    const owner = this.facts.ownerOf(terminal);
    if (!bounds) return true;
    if (!owner) return false;
    if (owner.session !== undefined) return this.sees(access, owner.session);
    // The terminal may have been opened when its client had other bounds.
    return owner.clientId === clientId && owner.folder !== undefined && this.#hasNamed(access, owner.folder);
  }

  /** Throws when a request is not allowed, or names something that does not exist for its sender. */
  checkRequest(caller: Pick<Caller, 'access' | 'identity'>, method: string, params: Params): void {
    const { access } = caller;
    if (!isLimited(access)) return;
    const { bounds } = ruleForRequest(method);
    needRole(access, leastForRequest(method, params), method);
    if (access.credential.kind === 'share' && !OF_SHARES.has(method)) throw notOfShares(method);
    if (method === 'subscribe') this.checkChannel(access, String(params.channel));
    if (method === 'resourceRead') this.#checkContent(caller, params.uri);
    if (!access.bounds) return;
    if (bounds === 'whole') throw needsAll(method);
    if (typeof bounds !== 'string')
      for (const name of bounds)
        if (!this.isVisible(caller, String(params[name]))) throw unknownChannel(String(params[name]));
    this.#checkPlaces(caller, method, params);
  }

  /** Throws when a kind of channel needs a higher role. */
  checkChannel(access: Access, channel: string): void {
    needRole(access, CHANNEL_RULES[channelKind(channel)], `subscribe to ${channel}`);
  }

  canOpen(caller: Pick<Caller, 'access' | 'identity'>, channel: string): boolean {
    const { access } = caller;
    if (!isLimited(access)) return true;
    return hasRole(access.role, CHANNEL_RULES[channelKind(channel)]) && this.isVisible(caller, channel);
  }

  /**
   * Checks a content. Contents that the host names belong to a session; blobs are named by the hash of their bytes,
   * which nobody can guess.
   */
  #checkContent({ access }: Pick<Caller, 'access'>, uri: unknown): void {
    if (!isHostContent(uri)) return;
    const text = String(uri);
    const session = this.facts.sessionOf(text);
    const leftOut = withImplied(access.leftOut ?? []);
    const isLeftOut =
      (text.startsWith('atrium-changes:') && (leftOut.includes('fileContents') || leftOut.includes('folders'))) ||
      (text.startsWith('atrium-input:') && leftOut.includes('toolInput'));
    const isHidden = session !== undefined && !this.sees(access, session);
    const isOfNoSession = session === undefined && access.bounds !== undefined && !text.startsWith('atrium-content:');
    if (isLeftOut || isHidden || isOfNoSession) throw new RequestError(ErrorCode.NotFound, `there is no ${text}`);
  }

  /** Checks what a request brings in: working folders, sessions and chats to start from, attachments. */
  #checkPlaces(caller: Pick<Caller, 'access' | 'identity'>, method: string, params: Params): void {
    const { config, claim, fork, source, initialMessage } = params;
    const named = [params, config]
      .filter(isObject)
      .flatMap((in_) => FOLDER_PARAMS.flatMap((name) => stringsIn(in_[name])));
    for (const folder of named) if (!this.#hasNamed(caller.access, folder)) throw noSuchFolder(folder);
    const begun = [claim, fork, source].filter(isObject).flatMap((from) => [from.session, from.chat]);
    for (const uri of begun)
      if (uri !== undefined && !this.isVisible(caller, String(uri))) throw unknownChannel(String(uri));
    const missing = this.#missingAttachment(caller, initialMessage);
    if (missing !== undefined) throw new RequestError(ErrorCode.NotFound, `there is no ${missing}`);
    const isNew = method === 'createSession' || method === 'createTerminal';
    if (isNew && named.length === 0 && begun.every((uri) => uri === undefined)) throw needsFolder();
    if (method === 'sessionConfigCompletions' && params.property === 'folder') throw needsAll(method);
  }

  #hasNamed(access: Access, folder: string): boolean {
    const path = pathOfUri(folder) ?? folder;
    return isAbsolute(path) && this.hasFolder(access, path);
  }

  /**
   * Says why an action may not be dispatched; undefined when it may. `needed` is the role that the channel asks for
   * this very action.
   */
  refusalOf(
    caller: Pick<Caller, 'access' | 'identity'>,
    action: StateAction,
    needed: Role = 'viewer',
  ): string | undefined {
    const { access } = caller;
    if (!isLimited(access)) return undefined;
    const least = highest(leastForAction(action), needed);
    if (!hasRole(access.role, least)) return `not allowed: this needs the role ${least}`;
    if (access.credential.kind === 'share') return 'not allowed: a share is for reading';
    return access.bounds && this.#outOfBounds(caller, action);
  }

  /** Finds the first folder or transcript out of bounds that an action would bring into a session. */
  #outOfBounds(caller: Pick<Caller, 'access' | 'identity'>, action: StateAction): string | undefined {
    const { directory, replacement, message, draft, claim } = action as unknown as Params;
    if (action.type.startsWith('session/workingDirectory') || action.type.startsWith('chat/workingDirectory'))
      for (const folder of [directory, replacement])
        if (typeof folder === 'string' && !this.#hasNamed(caller.access, folder)) return `there is no folder ${folder}`;
    if (action.type === 'terminal/claimed' && isObject(claim))
      for (const uri of [claim.session, claim.chat])
        if (uri !== undefined && !this.isVisible(caller, String(uri))) return `there is no session ${String(uri)}`;
    const missing = this.#missingAttachment(caller, message) ?? this.#missingAttachment(caller, draft);
    return missing === undefined ? undefined : `there is no ${missing}`;
  }

  /** The first attachment of a message that does not exist for the sender. */
  #missingAttachment(caller: Pick<Caller, 'access' | 'identity'>, message: unknown): string | undefined {
    for (const { type, resource, uri } of attachmentsOf(message)) {
      const isChannel = type === 'chat' || type === 'annotations';
      const named = [resource, uri].filter((name) => name !== undefined).map(String);
      // Check both: which of the two is read depends on the reader.
      const missing = named.find((name) => !this.#isAttachable(caller, name, isChannel));
      if (missing !== undefined) return missing;
    }
    return undefined;
  }

  #isAttachable(caller: Pick<Caller, 'access' | 'identity'>, name: string, isChannel: boolean): boolean {
    if (/^file:/i.test(name)) return this.#hasFile(caller.access, name);
    return !isChannel || this.isVisible(caller, name);
  }

  #hasFile(access: Access, uri: string): boolean {
    const path = pathOfUri(uri);
    if (path === undefined) return false;
    const real = this.#real(path);
    return (this.foldersOf(access) ?? []).some((folder) => isInside(folder, real));
  }

  #isWithin(folders: readonly string[], { workingDirectories = [], project }: SessionPlace): boolean {
    const bounds = folders.map((folder) => this.#real(folder));
    const isIn = (uri: string) => {
      const path = pathOfUri(uri);
      return path !== undefined && bounds.some((bound) => isInside(bound, this.#real(path)));
    };
    if (project && isIn(project.uri)) return true;
    return workingDirectories.length > 0 && workingDirectories.every(isIn);
  }

  #real(folder: string): string {
    const now = this.now();
    const known = this.#realPaths.get(folder);
    if (known && now < known.until && known.until <= now + REAL_PATHS_FRESH_MS) return known.real;
    if (this.#realPaths.size >= REAL_PATHS_MAX) this.#realPaths.clear();
    const real = realPathSync(folder);
    this.#realPaths.set(folder, { real, until: now + REAL_PATHS_FRESH_MS });
    return real;
  }
}

/** True when this access may not see or do everything. Nearly all connections are the owner's, and may. */
export function isLimited({ role, bounds, leftOut, credential }: Access): boolean {
  return role !== 'owner' || bounds !== undefined || leftOut !== undefined || credential.kind === 'share';
}

/** A key that is equal for two accesses that may see and do the same; undefined for full access. */
export function accessKey(access: Access): string | undefined {
  if (!isLimited(access)) return undefined;
  const { role, bounds, leftOut, credential } = access;
  const { sessions, folders } = bounds ?? {};
  const facts = JSON.stringify([role, credential.kind === 'share', bounds && [sessions, folders], leftOut]);
  return createHash('sha256').update(facts).digest('base64url');
}

function needRole({ role }: Access, least: Role, what: string): void {
  if (hasRole(role, least)) return;
  throw new RequestError(ErrorCode.PermissionDenied, `not allowed: ${what} needs the role ${least}`, { role: least });
}

function needsAll(method: string): RequestError {
  const message = `not allowed: ${method} concerns the whole host, and this access has bounds`;
  return new RequestError(ErrorCode.PermissionDenied, message, { role: 'owner' });
}

function notOfShares(method: string): RequestError {
  return new RequestError(ErrorCode.PermissionDenied, `not allowed: a share has no ${method}`, { role: 'owner' });
}

function noSuchFolder(folder: string): RequestError {
  const message = `there is no folder ${folder} on the host's machine; make it, or name another`;
  return new RequestError(ErrorCode.InvalidParams, message);
}

function needsFolder(): RequestError {
  return new RequestError(ErrorCode.InvalidParams, 'name a folder: this access is limited to certain folders');
}

function isObject(value: unknown): value is Params {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function stringsIn(value: unknown): string[] {
  return (Array.isArray(value) ? value : [value]).filter((item) => typeof item === 'string');
}

function attachmentsOf(message: unknown): Params[] {
  const { attachments } = isObject(message) ? message : {};
  return Array.isArray(attachments) ? attachments.filter(isObject) : [];
}
