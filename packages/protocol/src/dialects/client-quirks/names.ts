/**
 * How one connection spells the names of sessions and of what is named after them. A session has one name in the host;
 * clients may call it otherwise:
 *
 * - `<provider>:/<id>` and `ahp-session:/<id>` are the same session [UP-182] [UP-201] [UP-204].
 * - A chat that is named after its session holds the session's name in base64url: `ahp-chat://default/<session>`,
 *   `ahp-chat://<id>/<session>`, `ahp-chat://subagent/<session>/<call>` [UP-183]. `ahp-chat:/<id>` is the default chat.
 * - Annotations, changesets and contents of changes hold the session's name, too [UP-184].
 *
 * A name that exists as it is always means that. Another spelling is used only while nothing else has that name, so two
 * things never share a name on a connection. What a client calls something is resolved here, before anything is looked
 * up, checked or allowed: behind this layer there is one name.
 */
import { channelKind, defaultChatUri, sessionOfDefaultChat } from '../../ahp-1/channels.js';
import type { ModelView } from '../dialect.js';
import type { DialectConnection } from '../dialect-0.3.js';

/** The form of a session's name: the host's own, the one with its provider, or the one with `ahp-session`. */
type Form = 'own' | 'provider' | 'ahp-session';

/** The client's name for one session, when it deviates from that of other sessions. */
interface Called {
  readonly session: string;
  readonly form: Form;
  /** Its default chat is `ahp-chat:/<id>`. */
  readonly hasPlainChat?: boolean;
}

/** How a connection spells names. Stored with the client, so it is plain data. */
export interface Spelling {
  /** The client names sessions by their provider, except those below. */
  readonly isByProvider?: boolean;
  /** Sessions with other names, the latest last. */
  readonly called?: readonly Called[];
}

/** How many sessions a client may name in another form; beyond that, the oldest get the usual form. */
export const CALLED_SESSIONS_MAX = 256;
/** The total size of those names: a client names sessions before the host has checked them. */
export const CALLED_SESSIONS_MAX_CHARACTERS = 64 * 2 ** 10;

/** The host's own spelling. */
export const PLAIN_SPELLING: Spelling = {};

const SPELLING = 'spelling';
const SESSION_SCHEME = 'ahp-session';
const PLAIN_CHAT = 'ahp-chat:/';
const NAMED_CHATS = 'ahp-chat://';
const DEFAULT_CHAT = `${NAMED_CHATS}default/`;
const ANNOTATIONS = '/annotations';
/** Schemes whose first segment is the escaped name of a session, or the id of one named `ahp-session:/<id>`. */
const NAMED_AFTER_SESSION = /^(ahp-changeset|atrium-changes):\/([^/]+)(.*)$/s;
const NAMED_CHAT = /^ahp-chat:\/\/(subagent\/)?([^/]+)(?:\/([^/]*))?$/;
/**
 * Schemes are matched only up to a length: the text may be anything a client sent, and long words must not cost more.
 */
const NAMES_IN_TEXT = /(?<![A-Za-z0-9+.-])[A-Za-z][A-Za-z0-9+.-]{0,63}:\/[^\s"'`,;()]*[^\s"'`,;().:]/g;
const SCHEME = /^[A-Za-z][A-Za-z0-9+.-]*$/;

export function spellingOf(connection: DialectConnection): Spelling {
  return (connection[SPELLING] as Spelling | undefined) ?? PLAIN_SPELLING;
}

export function withSpelling(connection: DialectConnection, spelling: Spelling): DialectConnection {
  return spelling === spellingOf(connection) ? connection : { ...connection, [SPELLING]: spelling };
}

export function isPlain({ isByProvider = false, called = [] }: Spelling): boolean {
  return !isByProvider && called.length === 0;
}

/** Equal for equal spellings. */
export function spellingKey({ isByProvider = false, called = [] }: Spelling): string {
  if (called.length === 0) return String(isByProvider);
  return JSON.stringify([isByProvider, called.map(({ session, form, hasPlainChat }) => [session, form, hasPlainChat])]);
}

// From the client

/** Resolves names that a client uses, and learns how it names sessions. */
export class NameReader {
  #spelling: Spelling;

  constructor(
    spelling: Spelling,
    private readonly view: ModelView,
  ) {
    this.#spelling = spelling;
  }

  /** The spelling with what was learned so far. */
  get spelling(): Spelling {
    return this.#spelling;
  }

  /** The host's name for what the client addresses. From now on, the client gets the name that it used. */
  address(name: string): string {
    return this.#read(name, (called) => this.#learn(called));
  }

  /** The host's name for what the client only mentions. A name that matches nothing stays as it is. */
  mention(name: string): string {
    return this.#read(name, () => {});
  }

  /** The host's name for a session that is about to be created, and its agent, which its name may contain. */
  addressNew(name: string, given: unknown): { readonly channel: string; readonly provider: unknown } {
    const { scheme, rest } = split(name);
    const provider = given ?? (this.view.hasProvider?.(scheme) ? scheme : undefined);
    const isNew = sessionNamed(name, this.view) === undefined;
    if (!isNew || scheme !== provider || channelKind(name) !== 'session') {
      return { channel: this.address(name), provider: given };
    }
    const session = `${SESSION_SCHEME}:${rest}`;
    this.#learn({ session, form: 'provider' });
    return { channel: session, provider };
  }

  #read(name: string, apply: (called: Partial<Called> & { session: string }) => void): string {
    const inner = (session: string): string | undefined => {
      const known = sessionNamed(session, this.view);
      if (known !== undefined) apply({ session: known, form: formOf(session, known) });
      return known;
    };
    const inside = NAMED_AFTER_SESSION.exec(name);
    if (inside) return readInside(name, inside, inner);
    const kind = channelKind(name);
    if (kind === 'session') return inner(name) ?? name;
    if (kind === 'annotations') {
      const session = inner(name.slice(0, -ANNOTATIONS.length));
      return session === undefined ? name : session + ANNOTATIONS;
    }
    if (kind !== 'chat') return name;
    const session = this.#sessionOfPlainChat(name);
    if (session !== undefined) apply({ session, hasPlainChat: true });
    return (session && this.view.defaultChatOf(session)) ?? readChat(name, inner);
  }

  /** A real chat may have such a name; then the name means that chat. */
  #sessionOfPlainChat(chat: string): string | undefined {
    const isPlainChat = chat.startsWith(PLAIN_CHAT) && !chat.startsWith(NAMED_CHATS);
    if (!isPlainChat || this.view.sessionUriOf(chat) !== undefined) return undefined;
    return sessionNamed(sessionOfPlainChat(chat), this.view);
  }

  #learn(apply: Partial<Called> & { readonly session: string }): void {
    const { isByProvider = false, called: all = [] } = this.#spelling;
    const before = all.find(({ session }) => session === apply.session);
    const usual: Form = isByProvider && isOfHost(apply.session) ? 'provider' : 'own';
    const next: Called = { form: usual, ...before, ...apply };
    const isUsual = next.form === usual && !next.hasPlainChat;
    if (before ? before.form === next.form && before.hasPlainChat === next.hasPlainChat : isUsual) return;
    const others = all.filter(({ session }) => session !== apply.session);
    const called = isUsual ? others : newestWithinLimits([...others, next]);
    this.#spelling = { ...(isByProvider && { isByProvider }), ...(called.length > 0 && { called }) };
  }
}

function newestWithinLimits(called: readonly Called[]): readonly Called[] {
  const newest = called.slice(-CALLED_SESSIONS_MAX);
  let characters = 0;
  const oldestKept = newest.findLastIndex(({ session }) => {
    characters += session.length;
    return characters > CALLED_SESSIONS_MAX_CHARACTERS;
  });
  return newest.slice(oldestKept + 1);
}

function readInside(
  name: string,
  [, scheme = '', key = '', rest = '']: RegExpExecArray,
  inner: (session: string) => string | undefined,
): string {
  const text = unescaped(key);
  const session = text?.includes(':') ? inner(text) : undefined;
  return session === undefined ? name : `${scheme}:/${encodeURIComponent(session)}${rest}`;
}

function readChat(name: string, inner: (session: string) => string | undefined): string {
  const parts = chatParts(name);
  const session = parts && inner(parts.session);
  return parts && session !== undefined ? chatNamed({ ...parts, session }) : name;
}

/** The session that a name means, if there is one. */
function sessionNamed(name: string, view: ModelView): string | undefined {
  if (view.providerOf(name) !== undefined) return name;
  const { scheme, rest } = split(name);
  if (scheme === SESSION_SCHEME) return view.namesakeOf?.(rest);
  const session = `${SESSION_SCHEME}:${rest}`;
  return view.providerOf(session) === scheme ? session : undefined;
}

function formOf(name: string, session: string): Form {
  if (name === session) return 'own';
  return split(name).scheme === SESSION_SCHEME ? 'ahp-session' : 'provider';
}

/** True when the host names a session without its provider. */
function isOfHost(session: string): boolean {
  return session.startsWith(`${SESSION_SCHEME}:`);
}

/** The session after which `ahp-chat:/<id>` is named. */
function sessionOfPlainChat(chat: string): string {
  return `${SESSION_SCHEME}:/${chat.slice(PLAIN_CHAT.length)}`;
}

// To the client

/** Writes names as a connection spells them. */
export class NameWriter {
  constructor(
    private readonly spelling: Spelling,
    private readonly view: ModelView,
  ) {}

  /** The client's name for something with this name in the host. Also works for URI templates. */
  write(uri: string): string {
    const inside = NAMED_AFTER_SESSION.exec(uri);
    if (inside) return this.#writeInside(uri, inside);
    const kind = channelKind(uri);
    if (kind === 'chat') return this.#writeChat(uri);
    if (kind === 'session') return this.#writeSession(uri);
    return kind === 'annotations' ? this.#writeSession(uri.slice(0, -ANNOTATIONS.length)) + ANNOTATIONS : uri;
  }

  /** A text for people, with the client's names in it. */
  writeText(text: string): string {
    return text.replace(NAMES_IN_TEXT, (uri) => this.write(uri));
  }

  #writeSession(session: string): string {
    const form = this.#calledOf(session)?.form ?? (this.spelling.isByProvider ? 'provider' : 'own');
    return form === 'own' ? session : (otherName(session, form, this.view) ?? session);
  }

  #writeChat(chat: string): string {
    const parts = chatParts(chat);
    if (!parts || this.view.providerOf(parts.session) === undefined) return chat;
    const { session } = parts;
    if (chat.startsWith(DEFAULT_CHAT) && this.#calledOf(session)?.hasPlainChat) {
      const plain = PLAIN_CHAT + split(session).rest.replace(/^\//, '');
      if (this.view.sessionUriOf(plain) === undefined && sessionNamed(sessionOfPlainChat(plain), this.view) === session)
        return plain;
    }
    const name = this.#writeSession(session);
    return name === session ? chat : chatNamed({ ...parts, session: name });
  }

  #writeInside(uri: string, [, scheme = '', key = '', rest = '']: RegExpExecArray): string {
    const session = unescaped(key);
    if (session === undefined || !session.includes(':')) return uri;
    const name = this.#writeSession(session);
    return name === session ? uri : `${scheme}:/${encodeURIComponent(name)}${rest}`;
  }

  #calledOf(session: string): Called | undefined {
    return this.spelling.called?.find((known) => known.session === session);
  }
}

/** Another name of a session; undefined when it has none in this form, or the name is taken. */
function otherName(session: string, form: Form, view: ModelView): string | undefined {
  const provider = view.providerOf(session);
  const { scheme, rest } = split(session);
  if (provider === undefined) return undefined;
  if (form === 'provider') {
    if (scheme !== SESSION_SCHEME || !SCHEME.test(provider)) return undefined;
    const name = `${provider}:${rest}`;
    return channelKind(name) === 'session' && sessionNamed(name, view) === session ? name : undefined;
  }
  const name = `${SESSION_SCHEME}:${rest}`;
  return scheme !== SESSION_SCHEME && sessionNamed(name, view) === session ? name : undefined;
}

// Chats that are named after their session

interface ChatParts {
  readonly session: string;
  /** What precedes the session's name, as `default/` or `subagent/`, and what follows it. */
  readonly before: string;
  readonly after: string;
}

function chatParts(chat: string): ChatParts | undefined {
  const [, subagent, first = '', second] = NAMED_CHAT.exec(chat) ?? [];
  if (second === undefined) return undefined;
  const [before, text, after] = subagent ? [subagent, first, `/${second}`] : [`${first}/`, second, ''];
  const session = sessionOfDefaultChat(DEFAULT_CHAT + text);
  return session === undefined ? undefined : { session, before, after };
}

function chatNamed({ session, before, after }: ChatParts): string {
  return `${NAMED_CHATS}${before}${defaultChatUri(session).slice(DEFAULT_CHAT.length)}${after}`;
}

function split(uri: string): { readonly scheme: string; readonly rest: string } {
  const colon = uri.indexOf(':');
  return colon < 0 ? { scheme: '', rest: uri } : { scheme: uri.slice(0, colon), rest: uri.slice(colon + 1) };
}

function unescaped(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
