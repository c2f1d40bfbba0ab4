/** A chat in the terminal: one session, its state on the screen, and what the person types turned into actions. */
import type { Client, Subscription } from '@atrium/client';
import { type SessionAction, type SessionState, SessionStatus, type UserMessage } from '@atrium/protocol';
import { ExitCode } from '../exit.js';
import type { Style } from '../text/style.js';
import type { ViewOptions } from './call-view.js';
import { connectionNotes } from './connection-notes.js';
import { Edits } from './edits.js';
import { finderOf } from './finder.js';
import { next, send, steer, stop } from './intents.js';
import type { Key } from './keys.js';
import { LiveTerminals } from './live-terminals.js';
import { Prompt } from './prompt.js';
import { Screen } from './screen.js';
import { SessionNotes } from './session-notes.js';
import { type SlashOutcome, slash } from './slash.js';
import { FRAME_MS, type StatusFacts, statusLine, waitingLines } from './status.js';
import type { Room, Task } from './tasks/room.js';
import { terminal as enterTerminal } from './tasks/terminal.js';
import { Terminal } from './terminal.js';
import { noteLines, Transcript } from './transcript.js';

/** Many changes in a short time are drawn once. */
const DRAW_AFTER_MS = 16;
/** While a turn runs, Ctrl+C leaves only when it is pressed again within this time: many mean to stop the turn. */
const LEAVE_AGAIN_MS = 3_000;

export type ChatEnd = { readonly to: 'shell'; readonly code: ExitCode } | { readonly to: 'new' | 'sessions' };

export interface ChatOptions {
  readonly client: Client;
  readonly session: Subscription;
  readonly style: Style;
  readonly isLocal: boolean;
  /** Said at once. */
  readonly prompt?: string | undefined;
  /** Whether what was said before is on the screen already. */
  readonly isShown?: boolean;
  /** The ids of the models that the agent has. */
  models(): readonly string[];
}

export class Chat {
  readonly #options: ChatOptions;
  readonly #screen = new Screen(process.stdout);
  readonly #terminal: Terminal;
  readonly #transcript: Transcript;
  readonly #prompt: Prompt;
  readonly #terminals: LiveTerminals;
  readonly #sessionNotes: SessionNotes;
  readonly #room: Room;
  readonly #offs: (() => void)[] = [];
  /** Lines that wait to go up. */
  readonly #notes: string[] = [];
  /** Somebody else has the terminal. */
  #isAway = false;
  #isOver = false;
  #drawing: NodeJS.Timeout | undefined;
  #workingSince: { readonly turnId: string; readonly at: number } | undefined;
  #leaveAskedAt = Number.NEGATIVE_INFINITY;
  #end: (end: ChatEnd) => void = () => {};

  constructor(options: ChatOptions) {
    this.#options = options;
    const { client, session, isLocal } = options;
    const edits = new Edits({
      ...{ client, isLocal, onReady: () => this.#changed() },
      folder: () => session.state.summary.workingDirectory,
    });
    this.#terminals = new LiveTerminals(client, () => this.#changed());
    this.#sessionNotes = new SessionNotes(client, (text) => this.#note(text));
    this.#transcript = new Transcript({
      view: () => this.#view,
      diffs: (call, isLive) => (isLive ? edits.ofCall(call) : edits.known(call)),
      tail: (call) => this.#terminals.tail(call),
    });
    this.#prompt = new Prompt({
      edits,
      finder: finderOf(client, session.uri, () => this.#changed()),
      dispatch: (action) => this.#dispatch(action),
      note: (text) => this.#note(text),
      show: (lines) => this.#show(lines(this.#view)),
    });
    this.#terminal = new Terminal({
      key: (key) => this.#key(key),
      resize: () => this.#changed(),
      resumed: () => this.#changed(),
      leaving: () => this.#screen.clear(),
      ended: () => this.#end({ to: 'shell', code: ExitCode.Interrupted }),
    });
    this.#room = this.#roomOf(options);
  }

  #roomOf({ client, session, isLocal }: ChatOptions): Room {
    return {
      ...{ client, session, isLocal, recall: {} },
      view: () => this.#view,
      note: (text) => this.#note(text),
      show: (lines) => this.#show(lines),
      ask: (question) => {
        this.#changed();
        return this.#prompt.ask(question);
      },
      away: (work) => this.#away(work),
    };
  }

  /** Runs until the person leaves, or the session is gone. */
  async run(): Promise<ChatEnd> {
    const { client, session, prompt } = this.#options;
    const ended = new Promise<ChatEnd>((resolve) => {
      this.#end = resolve;
    });
    for (const { userMessage } of session.state.turns) this.#prompt.remember(userMessage.text);
    if (this.#options.isShown) this.#transcript.skip(session.state);
    this.#terminal.open();
    const timer = setInterval(() => session.state.activeTurn && this.#changed(), FRAME_MS);
    this.#offs.push(
      () => clearInterval(timer),
      session.onChange(() => this.#changed()),
      session.onRejected(({ reason }) => this.#note(`Not accepted: ${reason}`)),
      session.onGone(() => this.#end({ to: 'shell', code: ExitCode.NoSession })),
      client.onStatus(connectionNotes((text) => this.#note(text))),
      client.onStatus((status) => (status.at === 'closed' ? this.#cutOff(status.error) : this.#changed())),
    );
    if (prompt !== undefined) this.#send(prompt);
    this.#draw();
    try {
      return await ended;
    } finally {
      this.#close();
    }
  }

  #close(): void {
    this.#isOver = true;
    clearTimeout(this.#drawing);
    for (const off of this.#offs) off();
    this.#prompt.close();
    this.#terminals.release();
    this.#screen.update([...this.#notes, ...this.#transcript.finished(this.#state)], {
      lines: [''],
      cursor: { row: 0, column: 0 },
    });
    this.#terminal.close();
  }

  /** For good. Nobody should have to guess why the chat is over. */
  #cutOff(error: Error | undefined): void {
    this.#note(error?.message ?? 'The connection to the host was closed.');
    this.#end({ to: 'shell', code: ExitCode.Failed });
  }

  get #state(): SessionState {
    return this.#options.session.state;
  }

  get #view(): ViewOptions {
    return { style: this.#options.style, columns: this.#screen.columns, rows: this.#screen.rows };
  }

  #note(text: string): void {
    this.#show([...noteLines(text, this.#view), '']);
  }

  #show(lines: readonly string[]): void {
    this.#notes.push(...lines);
    this.#changed();
  }

  #changed(): void {
    this.#drawing ??= setTimeout(() => this.#draw(), DRAW_AFTER_MS);
  }

  #draw(): void {
    clearTimeout(this.#drawing);
    this.#drawing = undefined;
    if (this.#isAway || this.#isOver) return;
    const state = this.#state;
    const view = this.#view;
    this.#keepTime(state);
    this.#markRead(state);
    this.#sessionNotes.follow(state);
    this.#prompt.follow(state);
    const finished = [...this.#notes.splice(0), ...this.#transcript.finished(state)];
    const above = [...this.#transcript.live(state), ...waitingLines(state, view)];
    const prompt = this.#prompt.view(state, view);
    const lead = above.length > 0 ? [...above, ''] : [];
    const status = statusLine(this.#facts(state), view);
    this.#screen.update(finished, {
      lines: [...lead, ...prompt.lines, status],
      cursor: { ...prompt.cursor, row: prompt.cursor.row + lead.length },
    });
  }

  #facts(state: SessionState): StatusFacts {
    const workingMs = this.#workingSince && performance.now() - this.#workingSince.at;
    const { isAsking } = this.#prompt;
    return { state, connection: this.#options.client.status, workingMs, isAsking, isLeaving: this.#isLeaving };
  }

  get #isLeaving(): boolean {
    return !!this.#state.activeTurn && performance.now() - this.#leaveAskedAt < LEAVE_AGAIN_MS;
  }

  #keepTime({ activeTurn }: SessionState): void {
    if (!activeTurn) {
      this.#workingSince = undefined;
      this.#terminals.release();
    }
    if (activeTurn && this.#workingSince?.turnId !== activeTurn.id)
      this.#workingSince = { turnId: activeTurn.id, at: performance.now() };
  }

  /** Somebody has seen it: this person. */
  #markRead({ summary, activeTurn, turns }: SessionState): void {
    if (activeTurn || turns.length === 0 || summary.status & SessionStatus.IsRead) return;
    this.#dispatch({ type: 'session/isReadChanged', isRead: true });
  }

  #dispatch(action: SessionAction | undefined): void {
    if (!action) return;
    // A refusal is told by `onRejected`, and what waits for a connection is told by the status.
    this.#options.session.dispatch(action).catch(() => {});
    this.#changed();
  }

  #key(key: Key): void {
    if (key.ctrl && key.name === 'z') return this.#terminal.suspend();
    if (key.ctrl && key.name === 'c') return this.#interrupt();
    if (key.ctrl && key.name === 'd' && this.#prompt.isEmpty) return this.#end({ to: 'shell', code: ExitCode.Ok });
    if (key.ctrl && key.name === 't') return this.#run(enterTerminal(''));
    const wish = this.#prompt.press(key);
    if (wish?.kind === 'send') this.#send(wish.text);
    if (wish?.kind === 'steer') this.#dispatch(steer(this.#state, this.#message(wish.text)));
    if (wish?.kind === 'stop') this.#dispatch(stop(this.#state));
    if (wish?.kind === 'next') this.#dispatch(next(this.#state));
    this.#changed();
  }

  /** Ctrl+C: takes back what is written, then leaves. */
  #interrupt(): void {
    this.#changed();
    if (this.#prompt.cancel()) return;
    if (!this.#state.activeTurn || this.#isLeaving) return this.#end({ to: 'shell', code: ExitCode.Interrupted });
    this.#leaveAskedAt = performance.now();
  }

  #send(text: string): void {
    const outcome = slash(text, { state: this.#state, models: this.#options.models() });
    if (outcome?.kind === 'leave')
      return this.#end(outcome.to === 'shell' ? { to: 'shell', code: ExitCode.Ok } : { to: outcome.to });
    if (outcome?.kind === 'task') return this.#run(outcome.task);
    if (outcome?.kind === 'act') this.#act(outcome);
    if (outcome) return outcome.text === undefined ? undefined : this.#note(outcome.text);
    this.#dispatch(send(this.#state, this.#message(text)));
  }

  #message(text: string): UserMessage {
    const attachments = this.#prompt.takeAttachments(text);
    return { text, ...(attachments.length > 0 && { attachments }) };
  }

  #run(task: Task): void {
    task(this.#room).catch((error: unknown) => this.#note(`Not done: ${messageOf(error)}`));
  }

  /** What happens meanwhile is drawn when the terminal is ours again. */
  async #away(work: () => Promise<void>): Promise<void> {
    this.#isAway = true;
    this.#terminal.close();
    try {
      await work();
    } finally {
      this.#isAway = false;
      if (!this.#isOver) this.#terminal.open();
      this.#changed();
    }
  }

  #act({ action, draft }: Extract<SlashOutcome, { kind: 'act' }>): void {
    this.#dispatch(action);
    if (draft !== undefined) this.#prompt.set(draft.text, draft.attachments);
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
