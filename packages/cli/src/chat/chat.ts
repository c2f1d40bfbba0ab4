/** A chat in the terminal: one session, and the person's keys turned into actions. */
import { randomUUID } from 'node:crypto';
import {
  ActionOutcomeUnknownError,
  ActionRejectedError,
  type Client,
  type CreationProgress,
  type OpenSession,
  type OpenSessionState,
} from '@atrium/client';
import {
  type AgentInfo,
  BUILTIN_NAMES,
  type ChatState,
  hasCallableNames,
  literal,
  type Message,
  MODE_PROPERTY,
  type ModelSelection,
  modeChange,
  modeIn,
  nextMode,
  readSlash,
  SessionStatus,
  type StateAction,
  unseenText,
} from '@atrium/protocol/ahp-1';
import { type ConnectionWords, callLong, connectionNotes } from '../connect/with-client.js';
import { ExitCode, errorText, QuietExit } from '../exit.js';
import { io } from '../io.js';
import { followPairings } from '../pairings.js';
import { attachBytes, attachFile } from '../sessions/attach-file.js';
import { chatTree, originChat } from '../sessions/chats.js';
import { shortId } from '../sessions/find-session.js';
import { folderOf } from '../sessions/summary-text.js';
import { carriedSelection, modelOf, type OpenAction, userMessage } from '../sessions/turn-text.js';
import { fileAddresses } from '../text/file-links.js';
import type { Style } from '../text/style.js';
import { type AttachingOptions, clipboardName } from './attaching.js';
import { Attention } from './attention.js';
import type { ViewOptions } from './call-view.js';
import { Terminal } from './chat-terminal.js';
import { ChatView, FRAME_MS } from './chat-view.js';
import { clipboardPicture } from './clipboard.js';
import type { Key } from './keys.js';
import { type Finder, Prompt } from './prompt.js';
import { Display, type Frame } from './screen.js';
import { SessionNotices } from './session-notices.js';
import { type Draft, type SlashOutcome, slash } from './slash.js';
import { type Arrival, terminal as enterTerminal, type Task, type TaskContext } from './tasks.js';
import { ToolInputs } from './tool-inputs.js';

/** While a turn runs, Ctrl+C leaves only when pressed again within this time: many people mean to stop the turn. */
const LEAVE_AGAIN_MS = 3_000;
/** A new session needs a moment to find its skills; after this time an unknown command counts as a typing error. */
const NAMES_WAIT_MS = 2_000;

/** Whether a message waits for the end of the running turn, or goes to that turn. */
type Sending = 'send' | 'steer';

export type ChatEnd =
  | { readonly to: 'shell'; readonly code: ExitCode }
  | { readonly to: 'new' | 'sessions' | 'chats' }
  | { readonly to: 'found'; readonly query: string }
  | ({ readonly to: 'chat'; readonly chat: string } & Arrival);

interface ChatOptions {
  readonly client: Client;
  readonly open: OpenSession;
  /** The model that the person asked for; without one, messages use that of the last message. */
  readonly model?: ModelSelection | undefined;
  readonly style: Style;
  readonly isLocal: boolean;
  /** The first message, sent at once. */
  readonly prompt?: string | undefined;
  /** Whether the earlier conversation is already on the screen. */
  readonly isShown?: boolean;
  /** The chat that the person came from. */
  readonly from?: string | undefined;
  /** Messages that were begun and not sent, by chat. */
  readonly drafts: Map<string, Draft>;
  /** The agent of the session, as the host describes it. */
  agent(): AgentInfo | undefined;
}

export class Chat {
  readonly #options: ChatOptions;
  readonly #display: Display;
  readonly #terminal: Terminal;
  readonly #view: ChatView;
  readonly #prompt: Prompt;
  readonly #notices: SessionNotices;
  readonly #taskContext: TaskContext;
  /** Stops the work that the host is doing for a command. */
  #stopping: AbortController | undefined;
  readonly #attention: Attention;
  #isOver = false;
  #model: ModelSelection | undefined;
  /** Messages that the person sent before the skills were known, in order. */
  readonly #early: { readonly text: string; readonly how: Sending }[] = [];
  #earlyTimer: NodeJS.Timeout | undefined;
  #areNamesDue = false;
  #leaveAskedAt = Number.NEGATIVE_INFINITY;
  /** Enter pressed while a file was on its way, and the keys after it: they count when the file has arrived. */
  #held: Key[] = [];
  #end: (end: ChatEnd) => void = () => {};

  constructor(options: ChatOptions) {
    this.#options = options;
    const { client, open, isLocal, style } = options;
    this.#model = options.model;
    const display = new Display({ style, draw: (view) => this.#draw(view) });
    const changed = () => display.changed();
    this.#display = display;
    const fileAddress = isLocal ? fileAddresses(folderOf(open.state.session), io().env) : undefined;
    this.#view = new ChatView({
      client,
      open,
      isLocal,
      view: () => ({ ...display.view, fileAddress }),
      show: (lines) => display.show(lines),
      changed,
    });
    this.#notices = new SessionNotices(client, (text) => display.note(text));
    this.#prompt = new Prompt({
      edits: this.#view.edits,
      inputs: new ToolInputs({ client, isLocal, onReady: changed }),
      finder: finderOf(client, open.chat.uri, {
        changed,
        facts: () => ({ models: this.#models, model: this.#modelId }),
      }),
      attaching: this.#attaching(),
      dispatch: (action, chat) => this.#dispatchTo(action, chat),
      note: (text) => display.note(text),
      show: (lines) => display.show(lines(display.view)),
    });
    this.#terminal = new Terminal({
      ...{ key: (key) => this.#key(key), resumed: changed },
      focus: (isFocused) => this.#attention.focused(isFocused),
      resize: () => {
        this.#prompt.resized();
        changed();
      },
      leaving: () => display.clear(),
      ended: () => this.#leave(ExitCode.Interrupted),
    });
    this.#attention = new Attention(client, open.session.uri);
    this.#taskContext = {
      ...{ client, open, isLocal, recall: {} },
      agent: () => options.agent(),
      goTo: (chat, arrival) => this.#goTo(chat, arrival),
      view: () => display.view,
      note: (text) => display.note(text),
      show: (lines) => display.show(lines),
      ask: (question) => {
        changed();
        return this.#prompt.ask(question);
      },
      write: (text) => {
        if (this.#prompt.isEmpty) this.#prompt.set(text);
        changed();
      },
      long: (method, params) => this.#long(method, params),
      away: (work) => this.#away(work),
    };
  }

  /** Runs until the person leaves, or the session is gone. */
  async run(): Promise<ChatEnd> {
    const { open, prompt, isShown, drafts } = this.#options;
    const ended = new Promise<ChatEnd>((resolve) => {
      this.#end = (end) => {
        this.#isOver = true;
        resolve(end);
      };
    });
    for (const { message } of open.state.chat.turns) this.#prompt.remember(message.text);
    if (isShown) this.#view.skip(open.state);
    const begun = drafts.get(open.chat.uri);
    if (begun) this.#prompt.set(begun.text, begun.attachments);
    drafts.delete(open.chat.uri);
    this.#terminal.open();
    const offs = this.#listen();
    if (prompt !== undefined) this.#send(prompt);
    this.#display.draw();
    try {
      return await ended;
    } finally {
      for (const off of offs) off();
      const { draft } = this.#prompt;
      if (draft) drafts.set(open.chat.uri, draft);
      this.#close();
    }
  }

  #listen(): (() => void)[] {
    const { client, open } = this.#options;
    const { session, chat } = open;
    const changed = () => this.#display.changed();
    const timer = setInterval(() => chat.state.activeTurn && changed(), FRAME_MS);
    return [
      () => clearInterval(timer),
      open.onChange(changed),
      session.onChange(() => this.#sayEarly(false)),
      () => clearTimeout(this.#earlyTimer),
      session.onRejected(({ reason }) => this.#display.note(`Not accepted: ${reason}`)),
      chat.onRejected(({ action, reason }) => isNewMessage(action) || this.#display.note(`Not accepted: ${reason}`)),
      session.onGone(() => this.#leave(ExitCode.NoSession)),
      chat.onGone(() => setImmediate(() => this.#chatGone())),
      this.#attention.follow(),
      followPairings(client, session.uri, (text) => this.#display.note(text)),
      client.onStatus(connectionNotes((text) => this.#display.note(text), wordsFor(session.uri))),
      client.onStatus((status) => (status.at === 'closed' ? this.#leave(ExitCode.Failed) : changed())),
    ];
  }

  #close(): void {
    this.#prompt.close();
    this.#view.close();
    this.#display.close(this.#view.finished(this.#state));
    this.#terminal.close();
  }

  /** Somebody closed the chat, here or elsewhere. If its session is gone, too, the session reports that. */
  #chatGone(): void {
    const { session, chat } = this.#options.open;
    const { chats, defaultChat } = session.state;
    const listed = [originChat(chat.state.origin), defaultChat, chats[0]?.resource];
    const next = listed.find((uri) => uri !== chat.uri && chats.some(({ resource }) => resource === uri));
    if (this.#isOver) return;
    if (session.isGone || next === undefined) return this.#leave(ExitCode.NoSession);
    this.#display.note('The chat was closed.');
    this.#goTo(next);
  }

  #goTo(chat: string, arrival: Arrival = {}): void {
    if (this.#isOver) return;
    this.#terminal.passOn();
    this.#end({ to: 'chat', chat, ...arrival });
  }

  /** Ctrl+G: goes to a chat that needs an answer, or back. */
  #goElsewhere(): void {
    const { open, from } = this.#options;
    const { session, chat } = open.state;
    const rows = chatTree(session).filter((row) => row.chat.resource !== chat.resource);
    const isThere = (uri: string | undefined) => rows.some((row) => row.chat.resource === uri);
    const asking = rows.find(({ asks }) => asks !== undefined)?.chat.resource;
    const next = [asking, from, originChat(chat.origin), session.defaultChat].find(isThere);
    if (next !== undefined) return this.#goTo(next);
    this.#display.note('There is no other chat in this session. /chat begins one, /fork copies this one.');
  }

  #leave(code: ExitCode): void {
    this.#end({ to: 'shell', code });
  }

  get #state(): OpenSessionState {
    return this.#options.open.state;
  }

  #draw(view: ViewOptions): { finished: string[]; frame: Frame } {
    const state = this.#state;
    this.#dispatch(seen(state));
    this.#notices.follow(state);
    this.#prompt.follow(state);
    const finished = this.#view.finished(state);
    const { isAsking } = this.#prompt;
    const connection = this.#options.client.status;
    const prompt = this.#prompt.view(state, view);
    const agent = this.#options.agent()?.displayName;
    return {
      finished,
      frame: this.#view.frame(
        state,
        { prompt, connection, isAsking, isLeaving: this.#isLeaving, model: this.#modelId, agent },
        view,
      ),
    };
  }

  get #modelId(): string | undefined {
    return this.#selected?.id;
  }

  get #selected(): ModelSelection | undefined {
    return this.#model ?? modelOf(this.#state);
  }

  get #models(): AgentInfo['models'] {
    return this.#options.agent()?.models ?? [];
  }

  get #isLeaving(): boolean {
    return !!this.#state.chat.activeTurn && performance.now() - this.#leaveAskedAt < LEAVE_AGAIN_MS;
  }

  #dispatch(action: OpenAction | undefined): void {
    // `onRejected` reports a refusal, and the status shows what waits for a connection.
    if (action) this.#dispatchTo(action).catch(() => {});
  }

  async #dispatchTo(action: OpenAction, chat?: string): Promise<void> {
    const { client, open } = this.#options;
    this.#display.changed();
    await (chat === undefined || chat === open.chat.uri ? open.dispatch(action) : client.dispatch(chat, action));
  }

  #key(key: Key): void {
    // Keys typed after /quit are for the shell: the agent must not get them.
    if (this.#isOver) return;
    this.#attention.typed();
    if (key.ctrl && key.name === 'z') return this.#terminal.suspend();
    if (key.name === 'escape' || (key.ctrl && key.name === 'c')) this.#held = [];
    else if (this.#mustWait(key)) return void this.#held.push(key);
    if (this.#stopping && (key.name === 'escape' || (key.ctrl && key.name === 'c'))) return this.#stopping.abort();
    if (key.ctrl && key.name === 'c') return this.#interrupt();
    if (key.ctrl && key.name === 'd' && this.#prompt.isEmpty) return this.#leave(ExitCode.Ok);
    if (key.ctrl && key.name === 't') return this.#run(enterTerminal(''));
    if (key.ctrl && key.name === 'g') return this.#goElsewhere();
    const wish = this.#prompt.press(key);
    if (wish?.kind === 'send') this.#send(wish.text);
    if (wish?.kind === 'steer') this.#send(wish.text, 'steer');
    if (wish?.kind === 'stop') this.#dispatch(stop(this.#state.chat));
    if (wish?.kind === 'mode') this.#nextMode();
    if (wish?.kind === 'next') this.#dispatch(next(this.#state.chat));
    this.#display.changed();
  }

  #mustWait(key: Key): boolean {
    if (this.#held.length > 0) return true;
    const sends = key.name === 'enter' || (key.ctrl === true && key.name === 's');
    return sends && this.#prompt.isAttaching && !this.#prompt.isAsking;
  }

  #attaching(): AttachingOptions {
    const { client } = this.#options;
    return {
      home: io().home,
      storeFile: (file) => attachFile(client, file),
      storeClipboard: async () => {
        const bytes = await clipboardPicture(io().env);
        return bytes && attachBytes(client, clipboardName(bytes), bytes);
      },
      unseen: () => unseenText(this.#options.agent(), this.#modelId),
      note: (text) => this.#display.note(text),
      changed: () => this.#display.changed(),
      settled: (isComplete) => {
        const held = this.#held;
        this.#held = [];
        // Without the file the message may mean something else: the person decides.
        if (isComplete) for (const key of held) this.#key(key);
      },
    };
  }

  /** Shift+Tab. Hosts of others may have no modes. */
  #nextMode(): void {
    const { config } = this.#state.session;
    if (!config?.schema.properties[MODE_PROPERTY]) return;
    const mode = nextMode(modeIn(config.values));
    this.#dispatch({ type: 'session/configChanged', config: modeChange(mode, config.values) });
  }

  /** Ctrl+C: clears the text first, then leaves. */
  #interrupt(): void {
    this.#display.changed();
    if (this.#prompt.cancel(this.#state)) return;
    if (!this.#state.chat.activeTurn || this.#isLeaving) return this.#leave(ExitCode.Interrupted);
    this.#leaveAskedAt = performance.now();
  }

  #send(text: string, how: Sending = 'send'): void {
    const outcome = slash(text, { state: this.#state, model: this.#selected, models: this.#models });
    if (outcome?.kind === 'leave') return this.#leaveTo(outcome.to);
    if (outcome?.kind === 'search') return this.#leaveFor({ to: 'found', query: outcome.query });
    if (outcome?.kind === 'task') return this.#run(outcome.task);
    if (outcome?.kind === 'act') this.#act(outcome, how);
    if (outcome?.kind === 'model') this.#model = outcome.model;
    if (outcome?.kind === 'paste') return this.#prompt.pasteClipboard();
    if (outcome?.kind === 'say') return this.#sendMessage(this.#message(outcome.text, []));
    if (outcome) return outcome.text === undefined ? undefined : this.#display.note(outcome.text);
    this.#say(text, how);
  }

  /** Sends a message to the agent. A text that only looks like a command goes back into the line instead. */
  #say(text: string, how: Sending): void {
    if (this.#state.chat.interactivity === 'read-only') {
      if (this.#prompt.text === '') this.#prompt.set(text);
      return this.#display.note(
        'Nobody writes here but the worker. You can answer its questions, and Esc stops it. Ctrl+G goes back.',
      );
    }
    const verdict = readSlash(text.trimStart(), this.#state.session, BUILTIN_NAMES);
    const isUnsure = verdict.kind === 'unknown' && !this.#areNamesDue && !this.#hasNames;
    if (isUnsure || this.#early.length > 0) {
      this.#early.push({ text, how });
      this.#earlyTimer ??= setTimeout(() => this.#sayEarly(true), NAMES_WAIT_MS);
      return;
    }
    if (verdict.kind === 'unknown') return this.#askAbout(text, how, verdict.advice);
    const message = this.#message(text.startsWith('/') ? verdict.text : text);
    this.#sendMessage(verdict.isLiteral ? literal(message) : message, how);
  }

  /** Refused words return to the line, unless the person has begun to write something else. */
  #sendMessage(message: Message, how: Sending = 'send'): void {
    const { open } = this.#options;
    this.#display.changed();
    const sent = how === 'steer' ? open.steer(message) : open.sendMessage(message);
    sent.catch((error: unknown) => {
      if (error instanceof ActionRejectedError) this.#display.note(`Not accepted: ${error.reason}`);
      else if (error instanceof ActionOutcomeUnknownError)
        this.#display.note('The connection was lost before the host answered: look whether your message is there.');
      else return;
      if (this.#prompt.isEmpty) this.#prompt.set(message.text, message.attachments);
      this.#display.changed();
    });
  }

  /** Sends an unknown command as a text only after a yes; otherwise it goes back into the line. */
  #askAbout(text: string, how: Sending, advice: string): void {
    this.#display.note(advice);
    this.#prompt.ask('Send it as a text?').then(
      (isMeant) => {
        if (isMeant) this.#sendMessage(literal(this.#message(text.trimStart())), how);
        else if (this.#prompt.text === '') this.#prompt.set(text);
        this.#display.changed();
      },
      () => {},
    );
  }

  /** Hosts of others may never list skills; Atrium's do as soon as they have looked. */
  get #hasNames(): boolean {
    return hasCallableNames(this.#state.session);
  }

  #sayEarly(areNamesDue: boolean): void {
    if (this.#early.length === 0 || !(areNamesDue || this.#hasNames)) return;
    clearTimeout(this.#earlyTimer);
    this.#areNamesDue = true;
    for (const { text, how } of this.#early.splice(0)) this.#say(text, how);
    this.#display.changed();
  }

  /** Without the host the chat cannot open another session, but the person can go on reading this one. */
  #leaveTo(place: 'shell' | 'new' | 'sessions' | 'chats'): void {
    return place === 'shell' ? this.#leave(ExitCode.Ok) : this.#leaveFor({ to: place });
  }

  #leaveFor(end: ChatEnd): void {
    if (this.#options.client.status.at === 'open') {
      this.#terminal.passOn();
      return this.#end(end);
    }
    this.#display.note('Not done: the host is not there right now. Try again when it is back.');
  }

  #message(text: string, attachments = this.#prompt.takeAttachments(text)): Message {
    const selection = { ...carriedSelection(this.#state.chat), ...(this.#model && { model: this.#model }) };
    return { ...userMessage(text, selection), ...(attachments.length > 0 && { attachments }) };
  }

  async #long(method: string, params: object): Promise<unknown> {
    const stopping = new AbortController();
    this.#stopping = stopping;
    try {
      return await callLong(this.#options.client, method, params, {
        signal: stopping.signal,
        onProgress: (progress) => this.#showWork(progress),
      });
    } finally {
      this.#stopping = undefined;
      this.#showWork(undefined);
    }
  }

  #showWork(progress: CreationProgress | undefined): void {
    this.#view.working(progress);
    this.#display.changed();
  }

  #run(task: Task): void {
    task(this.#taskContext).catch((error: unknown) => {
      if (!(error instanceof QuietExit)) this.#display.note(`Not done: ${errorText(error)}`);
      else this.#leave(error.code);
    });
  }

  async #away(work: () => Promise<void>): Promise<void> {
    this.#display.leave();
    this.#terminal.close();
    try {
      await work();
    } finally {
      if (!this.#isOver) this.#terminal.open();
      this.#display.comeBack();
    }
  }

  #act({ action, draft, say }: Extract<SlashOutcome, { kind: 'act' }>, how: Sending): void {
    this.#dispatch(action);
    if (draft !== undefined) this.#prompt.set(draft.text, draft.attachments);
    if (say !== undefined) this.#say(say, how);
  }
}

function wordsFor(uri: string): ConnectionWords {
  return {
    gone: 'What you write waits until it is back.',
    refused: `Leave with Ctrl+D, and come back with the right token: atrium attach ${shortId(uri)} --token-file <file>`,
  };
}

// The person's wishes as actions, which depend on whether a turn is running.

/** Marks a finished and unread chat as read. */
function seen({ session, chat: { activeTurn, turns } }: OpenSessionState): OpenAction | undefined {
  if (activeTurn || turns.length === 0 || session.status & SessionStatus.IsRead) return undefined;
  return { type: 'session/isReadChanged', isRead: true };
}

export function stop({ activeTurn }: ChatState): OpenAction | undefined {
  return activeTurn && { type: 'chat/turnCancelled', turnId: activeTurn.id };
}

/** The action that sends the first message that a stopped turn left in the queue. */
export function next({ activeTurn, queuedMessages = [] }: ChatState): OpenAction | undefined {
  const [first] = queuedMessages;
  if (!first || activeTurn) return undefined;
  const { id: queuedMessageId, message } = first;
  return { type: 'chat/turnStarted', turnId: randomUUID(), message, queuedMessageId };
}

/** Finds nothing when the host fails: completion is only a help. */
function finderOf(client: Client, channel: string, rest: Pick<Finder, 'changed' | 'facts'>): Finder {
  return {
    triggers: () => client.host.completionTriggerCharacters ?? [],
    find: async (text, offset) => {
      const { items } = await client.request('completions', { channel, kind: 'userMessage', text, offset });
      return items;
    },
    ...rest,
  };
}

/** `sendMessage` reports what becomes of these. */
function isNewMessage(action: StateAction): boolean {
  if (action.type === 'chat/turnStarted') return action.queuedMessageId === undefined;
  return action.type === 'chat/pendingMessageSet';
}
