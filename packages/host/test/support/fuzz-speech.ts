/** How clients of different versions see a session, and how they say the same things. */
import type { SessionState } from '@atrium/protocol';
import { defaultChatUri } from '@atrium/protocol/ahp-1';
import type { Dispatched, FuzzClient } from './fuzz-client.js';
import { CLIENT_TOOL } from './fuzz-script.js';
import type { AnyAction } from './fuzz-wire.js';

/** What every version shows of a session. */
export interface Seen {
  readonly turns: readonly string[];
  readonly turn: string | undefined;
  /** How many parts the answer of that turn has so far. */
  readonly parts: number;
  readonly questions: readonly string[];
  readonly calls: readonly { readonly toolCallId: string; readonly status: string; readonly editable?: boolean }[];
  readonly queued: readonly string[];
  /** Whether this client has a role in the session. */
  readonly isActive: boolean;
  /** Whether the session has come to be. */
  readonly isReady: boolean;
}

/** Who says something: in a version with chats, or in one without. */
export interface Speaker {
  readonly clientId: string;
  readonly hasChats: boolean;
}

/** What a client wants. */
export type Intent =
  | { readonly wants: 'start'; readonly turnId: string; readonly text: string }
  | { readonly wants: 'cancel'; readonly turnId: string }
  | { readonly wants: 'truncate'; readonly turnId?: string }
  | { readonly wants: 'complete'; readonly turnId: string; readonly toolCallId: string }
  | {
      readonly wants: 'confirm';
      readonly turnId: string;
      readonly toolCallId: string;
      readonly approved: boolean;
      readonly edited?: string | undefined;
    }
  | { readonly wants: 'answer'; readonly requestId: string; readonly response: string; readonly isFull: boolean }
  | { readonly wants: 'message'; readonly kind: 'queued' | 'steering'; readonly id: string; readonly text: string }
  | { readonly wants: 'unqueue'; readonly id: string }
  | { readonly wants: 'reorder'; readonly order: readonly string[] }
  | { readonly wants: 'title'; readonly title: string }
  | { readonly wants: 'model'; readonly id: string }
  | { readonly wants: 'role'; readonly isActive: boolean }
  | { readonly wants: 'config'; readonly config: object }
  | { readonly wants: 'flag'; readonly flag: 'isRead' | 'isArchived'; readonly value: boolean }
  | { readonly wants: 'nonsense'; readonly which: number };

/** What a client sees of a session; undefined when it does not watch it. */
export function seenBy(client: FuzzClient, uri: string): Seen | undefined {
  const session = client.channels.get(uri)?.state;
  if (!client.hasChats) return session && seenInSession(session as SessionState, client.clientId);
  const chat = client.channels.get(defaultChatUri(uri))?.state;
  return session || chat ? seenInChat(session ?? {}, chat ?? {}, client.clientId) : undefined;
}

/** What a client sees of a further chat. */
export function seenOfChat(client: FuzzClient, chat: string): Seen | undefined {
  const state = client.channels.get(chat)?.state;
  return state && seenInChat({}, state, client.clientId);
}

/** The action on a further chat; undefined for what is about the session. */
export function saidInChat({ clientId }: FuzzClient, channel: string, intent: Intent): Dispatched | undefined {
  const action = inChats(intent, clientId);
  return action.type.startsWith('chat/') ? { channel, action } : undefined;
}

function seenInSession(state: SessionState, clientId: string): Seen {
  return {
    turns: state.turns.map(({ id }) => id),
    turn: state.activeTurn?.id,
    parts: state.activeTurn?.responseParts.length ?? 0,
    questions: (state.inputRequests ?? []).map(({ id }) => id),
    calls: (state.activeTurn?.responseParts ?? []).flatMap((part) => (part.kind === 'toolCall' ? part.toolCall : [])),
    queued: (state.queuedMessages ?? []).map(({ id }) => id),
    isActive: state.activeClient?.clientId === clientId,
    isReady: state.lifecycle === 'ready',
  };
}

interface Named {
  readonly id: string;
}

/** The members of sessions and chats that are looked at here: what all versions with chats have. */
interface SessionLike {
  readonly activeClients?: readonly { readonly clientId: string }[];
  readonly lifecycle?: string;
}

interface ChatLike {
  readonly turns?: readonly Named[];
  readonly activeTurn?: Named & { readonly responseParts: readonly PartLike[] };
  readonly queuedMessages?: readonly Named[];
  /** Up to 0.5.2. */
  readonly inputRequests?: readonly Named[];
}

interface PartLike {
  readonly kind: string;
  readonly toolCall?: { readonly toolCallId: string; readonly status: string; readonly editable?: boolean };
  readonly request?: Named;
  readonly response?: string;
}

/** What versions with chats show of a session and its conversation. */
export function seenInChat({ activeClients = [], lifecycle }: SessionLike, chat: ChatLike, clientId: string): Seen {
  const { turns = [], activeTurn, queuedMessages = [], inputRequests = [] } = chat;
  const parts = activeTurn?.responseParts ?? [];
  const asked = parts.flatMap(({ kind, request, response }) =>
    kind === 'inputRequest' && request && response === undefined ? request : [],
  );
  return {
    turns: turns.map(({ id }) => id),
    turn: activeTurn?.id,
    parts: parts.length,
    questions: [...inputRequests, ...asked].map(({ id }) => id),
    calls: parts.flatMap(({ toolCall }) => toolCall ?? []),
    queued: queuedMessages.map(({ id }) => id),
    isActive: activeClients.some((client) => client.clientId === clientId),
    isReady: lifecycle === 'ready',
  };
}

/** The action by which a client asks for something in its version, and the channel that it belongs on. */
export function said({ hasChats, clientId }: Speaker, uri: string, intent: Intent): Dispatched {
  if (!hasChats) return { channel: uri, action: inSessions(intent, clientId) };
  const action = inChats(intent, clientId);
  return { channel: action.type.startsWith('chat/') ? defaultChatUri(uri) : uri, action };
}

const TOOLS = [{ name: CLIENT_TOOL, description: 'Looks things up', inputSchema: { type: 'object' as const } }];
const ANSWERS = { why: { state: 'submitted', value: { kind: 'text', value: 'Because.' } } } as const;
const RESULT = { success: true, pastTenseMessage: 'Looked it up' };

function inSessions(intent: Intent, clientId: string): AnyAction {
  switch (intent.wants) {
    case 'start':
      return { type: 'session/turnStarted', turnId: intent.turnId, userMessage: { text: intent.text } };
    case 'message': {
      const { kind, id, text } = intent;
      return { type: 'session/pendingMessageSet', kind, id, userMessage: { text } };
    }
    case 'model':
      return { type: 'session/modelChanged', model: { id: intent.id } };
    case 'role': {
      const activeClient = intent.isActive ? { clientId, tools: TOOLS } : null;
      return { type: 'session/activeClientChanged', activeClient };
    }
    default:
      return inBoth(intent, 'session');
  }
}

/** Times are left out: hosts fill them in. */
function inChats(intent: Intent, clientId: string): AnyAction {
  switch (intent.wants) {
    case 'start':
      return { type: 'chat/turnStarted', turnId: intent.turnId, message: messageOf(intent.text) };
    case 'message': {
      const { kind, id, text } = intent;
      return { type: 'chat/pendingMessageSet', kind, id, message: messageOf(text) };
    }
    case 'model':
      return { type: 'chat/draftChanged', draft: { ...messageOf('a draft'), model: { id: intent.id } } };
    case 'role':
      if (!intent.isActive) return { type: 'session/activeClientRemoved', clientId };
      return { type: 'session/activeClientSet', activeClient: { clientId, tools: TOOLS } };
    default:
      return inBoth(intent, 'chat');
  }
}

function messageOf(text: string) {
  return { text, origin: { kind: 'user' } };
}

type Shared = Exclude<Intent, { wants: 'start' | 'message' | 'model' | 'role' }>;

/** What has the same shape in all versions; only the family of a conversation's actions has another name. */
function inBoth(intent: Shared, family: 'session' | 'chat'): AnyAction {
  switch (intent.wants) {
    case 'cancel':
      return { type: `${family}/turnCancelled`, turnId: intent.turnId };
    case 'truncate':
      return { type: `${family}/truncated`, ...(intent.turnId !== undefined && { turnId: intent.turnId }) };
    case 'complete': {
      const { turnId, toolCallId } = intent;
      return { type: `${family}/toolCallComplete`, turnId, toolCallId, result: RESULT };
    }
    case 'confirm': {
      const { turnId, toolCallId, approved, edited } = intent;
      const edit = edited !== undefined && { editedToolInput: edited };
      const outcome = approved ? { confirmed: 'user-action', ...edit } : { reason: 'denied' };
      return { type: `${family}/toolCallConfirmed`, turnId, toolCallId, approved, ...outcome };
    }
    case 'answer': {
      const { requestId, response, isFull } = intent;
      return { type: `${family}/inputCompleted`, requestId, response, ...(isFull && { answers: ANSWERS }) };
    }
    case 'unqueue':
      return { type: `${family}/pendingMessageRemoved`, kind: 'queued', id: intent.id };
    case 'reorder':
      return { type: `${family}/queuedMessagesReordered`, order: intent.order };
    case 'title':
      return { type: 'session/titleChanged', title: intent.title };
    case 'config':
      return { type: 'session/configChanged', config: intent.config };
    case 'flag':
      return { type: `session/${intent.flag}Changed`, [intent.flag]: intent.value };
    case 'nonsense':
      return nonsense(family)[intent.which] ?? { type: 'session/nonsense' };
  }
}

/** What a host must turn down: unknown, malformed, its own, or of another channel. */
function nonsense(family: 'session' | 'chat'): readonly AnyAction[] {
  return [
    { type: 'session/nonsense' },
    { type: `${family}/turnStarted`, turnId: 7 },
    { type: 'session/ready' },
    { type: 'root/configChanged', config: {} },
  ];
}
