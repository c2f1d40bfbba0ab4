/** Clients that speak AHP 1.0, or a version below it that has chats. */
import { type ChatState, defaultChatUri, type SessionState } from '@atrium/protocol/ahp-1';
import type { RawClient, TestHost } from './test-host.js';

export interface NativeSession {
  readonly uri: string;
  readonly chat: string;
}

/** A client of the public protocol, after its handshake. */
export function nativeClient(host: TestHost, clientId: string, params: object = {}): Promise<RawClient> {
  return host.client(clientId, { protocolVersions: ['1.0.0'], ...params });
}

/** Creates a session as a client of 1.0 does: the name of its chat comes with the first snapshot. */
export async function nativeSession(client: RawClient, params: object = {}): Promise<NativeSession> {
  const uri = `ahp-session:/${crypto.randomUUID()}`;
  await client.request('createSession', { channel: uri, ...params });
  const { defaultChat = '' } = await client.state<SessionState>(uri);
  await client.request('subscribe', { channel: defaultChat });
  const state = await client.state<SessionState>(uri);
  if (state.lifecycle === 'creating') await client.action(uri, 'session/ready');
  return { uri, chat: defaultChat };
}

export function userMessage(text: string) {
  return { text, origin: { kind: 'user' } } as const;
}

/** Sends a message and waits for the turn to end. */
export async function nativeTurn(client: RawClient, chat: string, text: string, turnId = `t-${crypto.randomUUID()}`) {
  client.dispatch(chat, { type: 'chat/turnStarted', turnId, message: userMessage(text) } as { type: string });
  const isEnd = ({ type, turnId: id }: { type: string; turnId?: unknown }) =>
    ['chat/turnComplete', 'chat/turnCancelled', 'chat/error'].includes(type) && id === turnId;
  await client.action(chat, isEnd);
  return turnId;
}

export function chatState(client: RawClient, chat: string): Promise<ChatState> {
  return client.state<ChatState>(chat);
}

export function sessionState(client: RawClient, uri: string): Promise<SessionState> {
  return client.state<SessionState>(uri);
}

export { defaultChatUri };
