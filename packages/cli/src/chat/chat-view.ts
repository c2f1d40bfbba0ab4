/** A session as a chat shows it: the transcript, the running turn, waiting messages, and the status line. */
import type { Client, Status, Subscription } from '@atrium/client';
import type { SessionState } from '@atrium/protocol';
import { placeText } from '../sessions/summary-text.js';
import { printable } from '../text/printable.js';
import { cut, widthOf, wrap } from '../text/width.js';
import type { ViewOptions } from './call-view.js';
import type { EditorView } from './editor.js';
import { Edits } from './edits.js';
import { LiveTerminals } from './live-terminals.js';
import type { Frame } from './screen.js';
import { Transcript } from './transcript.js';

interface ChatViewOptions {
  readonly client: Client;
  readonly session: Subscription;
  /** Whether the host's files are those of this machine. */
  readonly isLocal: boolean;
  view(): ViewOptions;
  /** Something has come that was asked for. */
  changed(): void;
}

/** What the session itself does not know. */
interface ChatFacts {
  readonly prompt: EditorView;
  readonly connection: Status;
  readonly isAsking: boolean;
  /** Ctrl+C was pressed once. */
  readonly isLeaving: boolean;
}

export class ChatView {
  readonly edits: Edits;
  readonly #transcript: Transcript;
  readonly #terminals: LiveTerminals;
  #workingSince: { readonly turnId: string; readonly at: number } | undefined;

  constructor({ client, session, isLocal, view, changed }: ChatViewOptions) {
    const folder = () => session.state.summary.workingDirectory;
    const edits = new Edits({ client, isLocal, folder, onReady: changed });
    const terminals = new LiveTerminals(client, changed);
    this.edits = edits;
    this.#terminals = terminals;
    this.#transcript = new Transcript({
      view,
      diffs: (call, isLive) => (isLive ? edits.ofCall(call) : edits.known(call)),
      tail: (call) => terminals.tail(call),
    });
  }

  /** What was said so far is on the screen already. */
  skip(state: SessionState): void {
    this.#transcript.skip(state);
  }

  /** The lines that are finished since last time. */
  finished(state: SessionState): string[] {
    this.#keepTime(state);
    return this.#transcript.finished(state);
  }

  frame(state: SessionState, { prompt, connection, isAsking, isLeaving }: ChatFacts, view: ViewOptions): Frame {
    const above = [...this.#transcript.live(state), ...waitingLines(state, view)];
    const lead = above.length > 0 ? [...above, ''] : [];
    const workingMs = this.#workingSince && performance.now() - this.#workingSince.at;
    const status = statusLine({ state, connection, workingMs, isAsking, isLeaving }, view);
    return {
      lines: [...lead, ...prompt.lines, status],
      cursor: { ...prompt.cursor, row: prompt.cursor.row + lead.length },
    };
  }

  close(): void {
    this.#terminals.release();
  }

  #keepTime({ activeTurn }: SessionState): void {
    if (!activeTurn) {
      this.#workingSince = undefined;
      this.#terminals.release();
    }
    if (activeTurn && this.#workingSince?.turnId !== activeTurn.id)
      this.#workingSince = { turnId: activeTurn.id, at: performance.now() };
  }
}

// The status line and the messages that wait.

const FRAMES = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];
export const FRAME_MS = 150;
const QUEUED_SHOWN_MAX = 5;

interface StatusFacts {
  readonly state: SessionState;
  readonly connection: Status;
  /** For how long the turn has been running; absent when none is. */
  readonly workingMs: number | undefined;
  readonly isAsking: boolean;
  /** Ctrl+C was pressed once. */
  readonly isLeaving: boolean;
}

function statusLine(facts: StatusFacts, { style, columns }: ViewOptions): string {
  const { summary } = facts.state;
  const { title, provider, model } = summary;
  const place = [title, model?.id ?? provider, placeText(summary)].map(printable).filter(Boolean).join(' · ');
  const doing = doingText(facts);
  const room = columns - widthOf(doing.text) - 2;
  const left = cut(place, Math.max(0, room));
  const gap = ' '.repeat(Math.max(1, columns - widthOf(left) - widthOf(doing.text)));
  const shown = doing.isAlarm ? style.red(style.bold(doing.text)) : style.cyan(doing.text);
  return `${style.dim(left)}${gap}${shown}`;
}

interface Doing {
  readonly text: string;
  readonly isAlarm?: boolean;
}

function doingText({ connection, workingMs, isAsking, isLeaving, state }: StatusFacts): Doing {
  if (isLeaving) return { text: 'Ctrl+C again leaves · Esc stops the turn', isAlarm: true };
  if (connection.at !== 'open') return { text: 'no connection, trying again…', isAlarm: true };
  if (isAsking) return { text: 'asks you' };
  if (workingMs !== undefined) {
    const frame = FRAMES[Math.floor(workingMs / FRAME_MS) % FRAMES.length];
    const activity = state.summary.activity;
    const what = activity ? printable(activity) : 'working';
    return { text: `${frame} ${what} ${Math.floor(workingMs / 1_000)}s · Esc stops` };
  }
  return { text: state.lifecycle === 'creating' ? 'starting the agent…' : '/help' };
}

/** Messages that wait. Behind a turn that was stopped nothing moves them but a person. */
function waitingLines(state: SessionState, { style, columns }: ViewOptions): string[] {
  const { queuedMessages = [], steeringMessage, activeTurn } = state;
  const line = (word: string, text: string) => style.dim(cut(`  ${word}: ${printable(text)}`, columns));
  const queued = queuedMessages.map(({ userMessage }) => line('queued', userMessage.text));
  const isStuck = !activeTurn && queued.length > 0;
  const [count, them] = queued.length === 1 ? ['A message waits', 'it'] : [`${queued.length} messages wait`, 'them'];
  const how = `${count}. Enter on an empty line sends ${them}, /unqueue takes the last one back.`;
  return [
    ...(steeringMessage ? [line('steering', steeringMessage.userMessage.text)] : []),
    ...queued.slice(0, QUEUED_SHOWN_MAX),
    ...(queued.length > QUEUED_SHOWN_MAX ? [style.dim(`  … ${queued.length - QUEUED_SHOWN_MAX} more`)] : []),
    ...(isStuck ? wrap(how, columns - 2).map((text) => style.yellow(`  ${text}`)) : []),
  ];
}
