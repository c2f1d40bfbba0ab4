/** A session with one of its chats, on the screen: both states as of the last frame, and the actions on them. */
import {
  ActionOutcomeUnknownError,
  ActionRejectedError,
  type Client,
  type DispatchOf,
  type OpenSession as Opened,
} from '@atrium/client';
import { type ChatState, type Message, type SessionState, type StateAction, WorkClock } from '@atrium/protocol/ahp-1';
import { type PerFrame, perFrame } from '../model/per-frame.js';
import { Store } from '../model/store.js';
import { newId } from './new-id.js';

/** Enough short turns to fill any screen; a turn of real work may have many kilobytes. Scrolling loads older ones. */
export const TURNS_FIRST = 20;
/** How many turns one step loads; the host sends 20 at a time. */
const TURNS_MORE = 40;
/** How many turns one step loads on the way to a turn far above. */
const TURNS_REACHED = 500;
/** The pause between checks while another request loads older turns. */
const LOADING_LOOK_MS = 20;

export interface SessionView {
  readonly session: SessionState;
  readonly chat: ChatState;
  /** Turns of the chat that are not loaded yet. */
  readonly older: OlderTurns;
  /** Whether the session or the chat was disposed, perhaps by another client. */
  readonly gone: 'session' | 'chat' | undefined;
}

export interface OlderTurns {
  readonly isAny: boolean;
  /** Undefined if the host does not say. */
  readonly count: number | undefined;
}

const UNKNOWN = 'The connection was lost before the host answered: look whether your message is there.';

export class OpenSession {
  readonly view: Store<SessionView>;
  readonly isLoadingOlder = new Store(false);
  /** Counts the messages from here, so that the list scrolls to a new message wherever the person was reading. */
  readonly said = new Store(0);
  /** For how long the agent has worked on the running turn. */
  readonly clock = new WorkClock();
  readonly #opened: Opened;
  readonly #frame: PerFrame;

  private constructor(
    readonly client: Client,
    opened: Opened,
    private readonly onProblem: (text: string) => void,
  ) {
    this.#opened = opened;
    this.view = new Store(this.#look());
    this.#frame = perFrame(() => this.view.set(this.#look()));
    const changed = () => {
      this.clock.see(opened.chat.state, Date.now());
      this.#frame.request();
    };
    this.clock.see(opened.chat.state, Date.now());
    opened.onChange(changed);
    for (const part of [opened.session, opened.chat]) {
      part.onGone(() => this.#frame.request());
      part.onRejected(({ action, reason }) => this.#refused(action, reason));
    }
  }

  /** `chat`: the session's default one, if left out. */
  static async open(
    client: Client,
    uri: string,
    onProblem: (text: string) => void,
    chat?: string,
  ): Promise<OpenSession> {
    const opened = await client.open(uri, { turns: { last: TURNS_FIRST }, ...(chat !== undefined && { chat }) });
    return new OpenSession(client, opened, onProblem);
  }

  get uri(): string {
    return this.#opened.session.uri;
  }

  get chatUri(): string {
    return this.#opened.chat.uri;
  }

  get state(): SessionState {
    return this.#opened.session.state;
  }

  get chat(): ChatState {
    return this.#opened.chat.state;
  }

  readonly dispatch = (action: DispatchOf<'session'> | DispatchOf<'chat'>): void => {
    // `onRejected` reports a refusal; the state and the connection banner show everything else.
    this.#opened.dispatch(action).catch(() => {});
  };

  /** Dispatches to any chat of the session, open or not: a question may be in a chat that nobody has open. */
  readonly dispatchTo = (chat: string, action: DispatchOf<'chat'>): void => {
    if (chat === this.chatUri) return this.dispatch(action);
    this.client.dispatch(chat, action).catch((error: Error) => this.onProblem(error.message));
  };

  /**
   * Sends a person's message. Resolves with false when the host refused it, or does not say what became of it: nothing of it is
   * left but these words. `isRepeat`: it is not queued, because another device may have repeated the same.
   */
  async sendMessage(message: Message, { isSteering = false, isRepeat = false } = {}): Promise<boolean> {
    this.said.set(this.said.get() + 1);
    try {
      if (isRepeat) await this.#opened.dispatch({ type: 'chat/turnStarted', turnId: newId(), message });
      else await (isSteering ? this.#opened.steer(message) : this.#opened.sendMessage(message));
    } catch (error) {
      if (error instanceof ActionRejectedError) this.onProblem(refusal(error.reason));
      else if (error instanceof ActionOutcomeUnknownError && !this.#hasMessage(message.text)) this.onProblem(UNKNOWN);
      else return true;
      return false;
    }
    return true;
  }

  #hasMessage(text: string): boolean {
    const { turns, activeTurn, queuedMessages = [], steeringMessage } = this.chat;
    const newest = [turns.at(-1), activeTurn, ...queuedMessages, steeringMessage];
    return newest.some((each) => each?.message.text === text);
  }

  /** Resolves with whether the host has stored the draft; some keep none. */
  keepDraft(draft: ChatState['draft']): Promise<boolean> {
    const action = { type: 'chat/draftChanged' as const, ...(draft && { draft }) };
    return this.#opened.dispatch(action).then(
      () => true,
      () => false,
    );
  }

  async loadOlder(count: number = TURNS_MORE): Promise<void> {
    if (this.isLoadingOlder.get() || !this.#opened.chat.hasOlder) return;
    this.isLoadingOlder.set(true);
    try {
      await this.#opened.chat.loadOlder(count);
    } catch {
      // No connection; scrolling asks again.
    } finally {
      this.view.set(this.#look());
      this.isLoadingOlder.set(false);
    }
  }

  /** Loads older turns until this one is there; false when it is not among them. */
  async reach(turnId: string): Promise<boolean> {
    const isThere = () => [...this.chat.turns, this.chat.activeTurn].some((turn) => turn?.id === turnId);
    while (!isThere() && this.#opened.chat.hasOlder) {
      const before = this.chat.turns.length;
      if (this.isLoadingOlder.get()) await new Promise((resolve) => setTimeout(resolve, LOADING_LOOK_MS));
      else await this.loadOlder(TURNS_REACHED);
      if (!this.isLoadingOlder.get() && this.chat.turns.length === before) break;
    }
    return isThere();
  }

  close(): void {
    this.#frame.cancel();
    this.#opened.close();
  }

  #refused(action: StateAction, reason: string): void {
    // The text of a draft stays in the field, and in the memory of this tab.
    if (action.type !== 'chat/draftChanged' && !isNewMessage(action)) this.onProblem(refusal(reason));
  }

  #look(): SessionView {
    const { session, chat } = this.#opened;
    const gone = session.isGone ? 'session' : chat.isGone ? 'chat' : undefined;
    const older = { isAny: chat.hasOlder, count: chat.olderCount };
    return { session: session.state, chat: chat.state, older, gone };
  }
}

/** `sendMessage` reports what becomes of these. */
function isNewMessage(action: StateAction): boolean {
  if (action.type === 'chat/turnStarted') return action.queuedMessageId === undefined;
  return action.type === 'chat/pendingMessageSet';
}

function refusal(reason: string): string {
  return `The host did not accept that: ${reason}.`;
}
