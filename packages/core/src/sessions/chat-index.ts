/**
 * Finds the session of a chat, whether it is in memory or not. The URI of a default chat contains that of its session;
 * clients choose the URIs of other chats freely, so each of those has a record in the log. The record is stored in the
 * tick that lists the chat.
 */
import { sessionOfDefaultChat } from '@atrium/protocol/ahp-1';
import type { Writer } from '../channels/writer.js';
import { jsonText, type Log } from '../log/log.js';

const CHAT = 'chat:';

interface IndexedChat {
  readonly session: string;
  /** Digest of the request that created it: a client that missed the answer asks again. */
  readonly request?: string;
  /** No session lists this URI, but something is stored under it: an unfinished copy, or a disposed chat. */
  readonly isLoose?: true;
}

export class ChatIndex {
  readonly #chats = new Map<string, IndexedChat>();
  readonly #bySession = new Map<string, Set<string>>();

  constructor(
    private readonly log: Log,
    private readonly writer: Writer,
  ) {}

  async load(): Promise<void> {
    await this.log.eachRecord(CHAT, ({ key, value }) => this.#remember(key.slice(CHAT.length), JSON.parse(value)));
  }

  /** The session that lists a chat; undefined when none does. */
  sessionUriOf(chat: string): string | undefined {
    const session = sessionOfDefaultChat(chat);
    if (session !== undefined) return session;
    const known = this.#chats.get(chat);
    return known?.isLoose ? undefined : known?.session;
  }

  /** The further chats of a session. */
  chatsOf(session: string): readonly string[] {
    return [...(this.#bySession.get(session) ?? [])].filter((chat) => !this.#chats.get(chat)?.isLoose);
  }

  /** All URIs under which something is stored for a session's further chats, including those that no session lists. */
  storedFor(session: string): readonly string[] {
    return [...(this.#bySession.get(session) ?? [])];
  }

  /** True when something is, or is about to be, stored under this URI, listed or not. */
  has(chat: string): boolean {
    return this.#chats.has(chat);
  }

  /** Digest of the request that created a chat. */
  requestOf(chat: string): string | undefined {
    return this.#chats.get(chat)?.request;
  }

  /** URIs that no session lists, each with the session that it was meant for. */
  loose(): readonly (readonly [chat: string, session: string])[] {
    return [...this.#chats].flatMap(([chat, { session, isLoose }]) => (isLoose ? [[chat, session] as const] : []));
  }

  /** True when another session has something stored under this URI, listed or not. */
  isUsedElsewhere(chat: string, session: string): boolean {
    const known = this.#chats.get(chat);
    return known !== undefined && (!known.isLoose || known.session !== session);
  }

  /**
   * Adds a chat with this tick. It counts at once, so that actions on it in the same tick are shown with its session.
   */
  set(chat: string, session: string, request?: string): void {
    this.#change(chat, { session, ...(request !== undefined && { request }) });
  }

  /** Marks a URI as loose: what is stored under it belongs to no session, until one lists it. */
  reserve(chat: string, session: string): void {
    this.#change(chat, { session, isLoose: true });
  }

  /** Marks a chat as no longer listed, with this tick. It counts until the tick has been shown. */
  release(chat: string): void {
    const known = this.#chats.get(chat);
    if (!known) return;
    const loose: IndexedChat = { session: known.session, isLoose: true };
    this.writer.record({ key: CHAT + chat, value: jsonText(loose) });
    this.writer.afterCommit(() => this.#remember(chat, loose));
  }

  /** Removes the record: nothing is stored under the URI any more. */
  forget(chat: string): void {
    this.writer.record({ key: CHAT + chat, value: null });
    this.#drop(chat);
  }

  #change(chat: string, next: IndexedChat): void {
    const before = this.#chats.get(chat);
    this.writer.record({ key: CHAT + chat, value: jsonText(next) });
    this.#remember(chat, next);
    this.writer.afterFailure(() => (before ? this.#remember(chat, before) : this.#drop(chat)));
  }

  #remember(chat: string, indexed: IndexedChat): void {
    this.#chats.set(chat, indexed);
    const { session } = indexed;
    const chats = this.#bySession.get(session) ?? new Set();
    this.#bySession.set(session, chats.add(chat));
  }

  #drop(chat: string): void {
    const session = this.#chats.get(chat)?.session;
    this.#chats.delete(chat);
    if (session === undefined) return;
    const chats = this.#bySession.get(session);
    chats?.delete(chat);
    if (chats?.size === 0) this.#bySession.delete(session);
  }
}
