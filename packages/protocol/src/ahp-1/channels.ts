/** Channel URIs: which kind of state each one names. */
import { ROOT_CHANNEL } from '../channels.js';

export { ROOT_CHANNEL };

/** The URI of the automation catalogue. An automation itself is a key in it, not a channel. */
export const AUTOMATIONS_CHANNEL = 'ahp-automations://';

export type ChannelKind =
  | 'root'
  | 'session'
  | 'chat'
  | 'terminal'
  | 'changeset'
  | 'annotations'
  | 'automation'
  | 'automationRun'
  | 'canvas'
  | 'resourceWatch'
  | 'otlp'
  | 'mcp';

const KIND_BY_SCHEME: ReadonlyMap<string, ChannelKind> = new Map([
  ['ahp-root', 'root'],
  ['ahp-session', 'session'],
  ['ahp-chat', 'chat'],
  ['ahp-terminal', 'terminal'],
  ['ahp-changeset', 'changeset'],
  ['ahp-automations', 'automation'],
  ['ahp-automation-run', 'automationRun'],
  ['ahp-canvas', 'canvas'],
  ['ahp-resource-watch', 'resourceWatch'],
  ['ahp-otlp', 'otlp'],
  ['mcp', 'mcp'],
]);

/** A session URI with a path, followed by one more segment. */
const ANNOTATIONS = /^[^:]+:\/*[^/].*\/annotations$/;

/** The kind of a channel. Clients choose session URIs freely, so an unknown scheme is that of a session. */
export function channelKind(uri: string): ChannelKind {
  const scheme = uri.slice(0, Math.max(0, uri.indexOf(':')));
  const kind = KIND_BY_SCHEME.get(scheme) ?? 'session';
  return kind === 'session' && ANNOTATIONS.test(uri) ? 'annotations' : kind;
}

/** The URI of the annotations channel of a session. */
export function annotationsChannel(session: string): string {
  return `${session}/annotations`;
}

const ACTION_FAMILIES: ReadonlySet<string> = new Set<ChannelKind>([
  'root',
  'session',
  'chat',
  'terminal',
  'changeset',
  'annotations',
  'automation',
  'automationRun',
  'canvas',
  'resourceWatch',
]);

/** The kind of channel whose reducer handles an action; the first part of every action type names it. */
export function actionKind(type: string): ChannelKind | undefined {
  const family = type.slice(0, Math.max(0, type.indexOf('/')));
  return ACTION_FAMILIES.has(family) ? (family as ChannelKind) : undefined;
}

const DEFAULT_CHAT = 'ahp-chat://default/';

/** How many names are remembered; the host asks for the same few with every action. */
const NAMES_MAX = 1_000;

function remembered<Value>(make: (uri: string) => Value): (uri: string) => Value {
  const known = new Map<string, Value>();
  return (uri) => {
    const before = known.get(uri);
    if (before !== undefined) return before;
    const made = make(uri);
    if (known.size >= NAMES_MAX) known.clear();
    known.set(uri, made);
    return made;
  };
}

/** The URI of a session's first chat. Some clients derive it from the session's URI, so it has this form. */
export const defaultChatUri = remembered((session: string): string => DEFAULT_CHAT + base64url(session));

const sessionBehind = remembered((chat: string): string | undefined => {
  const session = fromBase64url(chat.slice(DEFAULT_CHAT.length));
  return session !== undefined && defaultChatUri(session) === chat ? session : undefined;
});

/** The session whose default chat has this URI; undefined for other URIs. */
export function sessionOfDefaultChat(chat: string): string | undefined {
  return chat.startsWith(DEFAULT_CHAT) ? sessionBehind(chat) : undefined;
}

const WORKER_CHAT = 'ahp-chat://subagent/';
const SIDE_CONTEXT = 'ahp-chat://context/';

/** The URI of the chat that a tool call opens for a worker. Some clients derive it, so it has this form. */
export function workerChatUri(session: string, toolCallId: string): string {
  return `${WORKER_CHAT}${base64url(session)}/${encodeURIComponent(toolCallId)}`;
}

/** True for a chat that a tool call opened for a worker. */
export function isWorkerChatUri(chat: string): boolean {
  return chat.startsWith(WORKER_CHAT);
}

/** The URI of a chat in a copy of its session, if the URI contains that of the session; otherwise undefined. */
export function chatUriInCopy(chat: string, from: string, to: string): string | undefined {
  const parts = chat.split('/');
  const at = parts.indexOf(base64url(from));
  return at < 0 ? undefined : parts.with(at, base64url(to)).join('/');
}

/** The channel under which a host stores what the agent of a side chat knows from the start. No client sees it. */
export function sideContextUri(chat: string): string {
  return SIDE_CONTEXT + base64url(chat);
}

/** True when only the host may open a chat with this URI. */
export function isReservedChatUri(chat: string): boolean {
  return [DEFAULT_CHAT, WORKER_CHAT, SIDE_CONTEXT].some((prefix) => chat.startsWith(prefix));
}

const DIGITS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';

/** Written by hand, because this package runs in browsers and in Node, and uses neither. */
function base64url(text: string): string {
  const bytes = utf8(text);
  let encoded = '';
  for (let at = 0; at < bytes.length; at += 3) {
    const [a = 0, b = 0, c = 0] = bytes.slice(at, at + 3);
    const bits = (a << 16) | (b << 8) | c;
    const digits = [18, 12, 6, 0].map((shift) => DIGITS.charAt((bits >> shift) & 63)).join('');
    encoded += digits.slice(0, Math.min(3, bytes.length - at) + 1);
  }
  return encoded;
}

function fromBase64url(text: string): string | undefined {
  let escaped = '';
  let bits = 0;
  let count = 0;
  for (let at = 0; at < text.length; at++) {
    const value = DIGITS.indexOf(text.charAt(at));
    if (value < 0) return undefined;
    bits = ((bits << 6) | value) & 0xffff;
    count += 6;
    if (count < 8) continue;
    count -= 8;
    escaped += escapedByte((bits >> count) & 0xff);
  }
  try {
    return decodeURIComponent(escaped);
  } catch {
    return undefined;
  }
}

/** A byte for `decodeURIComponent`: printable ASCII stays, everything else is escaped. */
function escapedByte(byte: number): string {
  const isPlain = byte >= 0x20 && byte < 0x7f && byte !== 0x25;
  return isPlain ? String.fromCharCode(byte) : `%${byte.toString(16).padStart(2, '0')}`;
}

function utf8(text: string): number[] {
  const encoded = encodeURIComponent(text);
  const bytes: number[] = [];
  for (let at = 0; at < encoded.length; at++) {
    const isEscaped = encoded.charAt(at) === '%';
    bytes.push(isEscaped ? Number.parseInt(encoded.slice(at + 1, at + 3), 16) : encoded.charCodeAt(at));
    if (isEscaped) at += 2;
  }
  return bytes;
}
