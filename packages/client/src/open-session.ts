/** A session together with one of its chats: what most programs work with. */
import { Emitter, type Log } from '@atrium/link';
import type { ChatState, SessionState } from '@atrium/protocol/ahp-1';
import type { DispatchOf } from './kinds.js';
import type { Accepted } from './outbox.js';
import { latest } from './streams.js';
import type { Subscription } from './subscription.js';

/** The states of a session and of the chat that is open. */
export interface OpenSessionState {
  readonly session: SessionState;
  readonly chat: ChatState;
}

/**
 * Stays with the chat that it was opened with: when another one becomes the session's default, `session.state.defaultChat`
 * says so, and the program decides whether to open that one. When the chat is disposed, `chat.isGone`.
 */
export class OpenSession implements AsyncIterable<OpenSessionState> {
  readonly session: Subscription<'session'>;
  readonly chat: Subscription<'chat'>;
  readonly #changed: Emitter<void>;
  #state: OpenSessionState;
  #closed = false;

  /** Made by `client.open`. */
  constructor(session: Subscription<'session'>, chat: Subscription<'chat'>, log: Log) {
    this.session = session;
    this.chat = chat;
    this.#state = { session: session.state, chat: chat.state };
    this.#changed = new Emitter(log);
    session.onChange(() => this.#changed.emit());
    chat.onChange(() => this.#changed.emit());
  }

  /** What a user should see; the same object until one of the two changes. */
  get state(): OpenSessionState {
    const { state: session } = this.session;
    const { state: chat } = this.chat;
    const isSame = session === this.#state.session && chat === this.#state.chat;
    if (!isSame) this.#state = { session, chat };
    return this.#state;
  }

  /** Whether the session or the chat was disposed, or is no longer permitted. */
  get isGone(): boolean {
    return this.session.isGone || this.chat.isGone;
  }

  /** Dispatches an action of the session or of the chat, each on its own channel. */
  dispatch(action: DispatchOf<'session'> | DispatchOf<'chat'>): Promise<Accepted> {
    return action.type.startsWith('session/')
      ? this.session.dispatch(action as DispatchOf<'session'>)
      : this.chat.dispatch(action as DispatchOf<'chat'>);
  }

  /** Called when the session or the chat has changed. */
  onChange(listener: (state: OpenSessionState) => void): () => void {
    return this.#changed.on(() => listener(this.state));
  }

  /** The states now, then whenever one has changed; a slow loop gets the latest and skips those in between. */
  [Symbol.asyncIterator](): AsyncGenerator<OpenSessionState, void, undefined> {
    return latest({
      current: () => this.state,
      ended: () => this.#closed || this.isGone,
      onChange: (listener) => this.#changed.on(listener),
    });
  }

  /** Ends both handles, and the loops. */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#changed.emit();
    this.session.close();
    this.chat.close();
  }
}

/** The chat to open when none is named: the default one, else the first. Waits for a session that has none yet. */
export async function chatOf(session: Subscription<'session'>): Promise<string> {
  for await (const { defaultChat, chats } of session) {
    const chat = defaultChat ?? chats[0]?.resource;
    if (chat !== undefined) return chat;
  }
  throw new Error(`${session.uri} ended before it had a chat.`);
}
