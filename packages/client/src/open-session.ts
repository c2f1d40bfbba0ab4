/** A session together with one of its chats: what most programs work with. */
import { Emitter, type Log, newId } from '@atrium/link';
import type { ChatState, SessionState } from '@atrium/protocol/ahp-1';
import { ActionRejectedError, ChannelGoneError } from './errors.js';
import type { DispatchOf, UserMessage } from './kinds.js';
import type { Accepted } from './pending-actions.js';
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

  /** The session's URI. */
  get uri(): string {
    return this.session.uri;
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

  /**
   * Sends a person's message. It begins a turn, or waits in the queue while one is running, also when another client's
   * message turns out to have come first. Rejects with an `ActionRejectedError` when the host takes it in neither way.
   */
  async sendMessage(message: UserMessage): Promise<Accepted> {
    const { activeTurn } = this.chat.state;
    if (activeTurn) return this.#leaveWaiting('queued', message);
    const last = this.#lastTurn;
    const turnId = newId();
    try {
      return await this.chat.dispatch({ type: 'chat/turnStarted', turnId, message });
    } catch (error) {
      const { activeTurn: other } = this.chat.state;
      const isOwn = other?.id === turnId || this.#lastTurn === turnId;
      const cameSecond = !isOwn && (other !== undefined || this.#lastTurn !== last);
      if (!(error instanceof ActionRejectedError && cameSecond)) throw error;
      return this.#leaveWaiting('queued', message);
    }
  }

  /**
   * Steers the running turn with a message. The protocol has one place for a steering message: while another one waits
   * there, this one is queued, so that it does not replace it. Without a running turn it begins one.
   */
  async steer(message: UserMessage): Promise<Accepted> {
    const { activeTurn, steeringMessage } = this.chat.state;
    if (!activeTurn || steeringMessage) return this.sendMessage(message);
    return this.#leaveWaiting('steering', message);
  }

  #leaveWaiting(kind: 'queued' | 'steering', message: UserMessage): Promise<Accepted> {
    return this.chat.dispatch({ type: 'chat/pendingMessageSet', kind, id: newId(), message });
  }

  get #lastTurn(): string | undefined {
    return this.chat.state.turns.at(-1)?.id;
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

type Limit = (doing: string, late: (error: Error) => void) => () => void;

/** The chat to open when none is named: the default one, else the first. Waits for a session that has none yet. */
export async function chatOf(session: Subscription<'session'>, limit: Limit): Promise<string> {
  const chosen = () => session.state.defaultChat ?? session.state.chats[0]?.resource;
  return new Promise((resolve, reject) => {
    const settle = (end: () => void) => {
      stop();
      off();
      end();
    };
    const look = () => {
      const chat = chosen();
      if (chat !== undefined) settle(() => resolve(chat));
      else if (session.isGone) settle(() => reject(new ChannelGoneError(session.uri)));
    };
    const stop = limit(`the first chat of ${session.uri}`, (error) => settle(() => reject(error)));
    const off = session.onChange(look);
    look();
  });
}
