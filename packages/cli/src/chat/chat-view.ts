/** A session as a chat shows it: the transcript, the running turn, waiting messages, and the status line. */
import type { Client, CreationProgress, OpenSession, OpenSessionState, Status } from '@atrium/client';
import { type ChatState, currentPlan, MODE_LABELS, modeIn, planProgress, WorkClock } from '@atrium/protocol/ahp-1';
import { readBytes } from '../host-files.js';
import { io } from '../io.js';
import { chatName, chatTree } from '../sessions/chats.js';
import { folderOf, placeText } from '../sessions/summary-text.js';
import { pictureProtocol } from '../text/inline-pictures.js';
import { printable } from '../text/printable.js';
import { cut, widthOf, wrap } from '../text/width.js';
import type { ViewOptions } from './call-view.js';
import type { EditorView } from './editor.js';
import { Edits } from './edits.js';
import { LiveTerminals } from './live-terminals.js';
import { LiveWorkers } from './live-workers.js';
import { Pictures } from './pictures.js';
import type { Frame } from './screen.js';
import { Transcript } from './transcript.js';

interface ChatViewOptions {
  readonly client: Client;
  readonly open: OpenSession;
  /** Whether the host's files are those of this machine. */
  readonly isLocal: boolean;
  view(): ViewOptions;
  /** Puts lines into the scrollback. */
  show(lines: readonly string[]): void;
  /** Content that the view asked for has arrived. */
  changed(): void;
}

/** Facts that are not in the session's state. */
interface ChatFacts {
  readonly prompt: EditorView;
  readonly connection: Status;
  readonly isAsking: boolean;
  /** Ctrl+C was pressed once. */
  readonly isLeaving: boolean;
  readonly model: string | undefined;
  /** What people call the agent. */
  readonly agent: string | undefined;
}

export class ChatView {
  readonly edits: Edits;
  readonly #transcript: Transcript;
  readonly #terminals: LiveTerminals;
  readonly #workers: LiveWorkers;
  /** The step at which the creation of the session is. */
  #creating: string | undefined;
  /** What the host does for a command of the person. */
  #working: string | undefined;
  readonly #unwatch: () => void;
  readonly #clock = new WorkClock();

  constructor({ client, open, isLocal, view, show, changed }: ChatViewOptions) {
    const protocol = pictureProtocol(io().env);
    const read = (uri: string, maxBytes: number) => readBytes(client, uri, maxBytes);
    const pictures = new Pictures({ protocol, read, view, show });
    const folder = () => folderOf(open.state.session);
    const edits = new Edits({ client, isLocal, folder, onReady: changed });
    const terminals = new LiveTerminals(client, changed);
    this.edits = edits;
    this.#unwatch = client.onProgress((uri, { message, done, total }) => {
      if (uri !== open.session.uri) return;
      this.#creating = progressText({ message, done, total });
      changed();
    });
    const workers = new LiveWorkers(client, () => open.state.session, changed);
    this.#terminals = terminals;
    this.#workers = workers;
    this.#transcript = new Transcript({
      view,
      diffs: (call, isLive) => (isLive ? edits.ofCall(call) : edits.known(call)),
      tail: (call) => terminals.tail(call),
      workers: (call) => workers.ofCall(call),
      pictures: (found) => pictures.show(found),
    });
  }

  /** What the host does for a command of the person. */
  working(progress: CreationProgress | undefined): void {
    const text = progress && progressText(progress);
    this.#working = text && `${text} · Esc stops it`;
  }

  /** Counts the conversation so far as shown. */
  skip(state: OpenSessionState): void {
    this.#transcript.skip(state);
  }

  /** The lines that are finished since last time. */
  finished(state: OpenSessionState): string[] {
    this.#keepTime(state.chat);
    return this.#transcript.finished(state);
  }

  frame(
    state: OpenSessionState,
    { prompt, connection, isAsking, isLeaving, model, agent }: ChatFacts,
    view: ViewOptions,
  ): Frame {
    const above = [
      ...this.#transcript.live(state),
      ...planLines(state, view),
      ...backgroundLine(state.chat, view),
      ...waitingLines(state.chat, view),
      ...elsewhereLines(state, view),
    ];
    const lead = above.length > 0 ? [...above, ''] : [];
    const workingMs = this.#clock.workedMs(performance.now());
    const facts = {
      state,
      connection,
      workingMs,
      isAsking,
      isLeaving,
      model,
      agent,
      creating: this.#creating,
      working: this.#working,
    };
    const status = statusLine(facts, view);
    return {
      lines: [...lead, ...prompt.lines, status],
      cursor: { ...prompt.cursor, row: prompt.cursor.row + lead.length },
    };
  }

  close(): void {
    this.#unwatch();
    this.#workers.release();
    this.#terminals.release();
  }

  #keepTime(chat: ChatState): void {
    this.#clock.see(chat, performance.now());
    if (chat.activeTurn) return;
    this.#workers.release();
    this.#terminals.release();
  }
}

// The status line and the messages that wait.

const FRAMES = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];
export const FRAME_MS = 150;
const QUEUED_SHOWN_MAX = 5;

interface StatusFacts {
  readonly state: OpenSessionState;
  /** The model of the next message, if the person chose one. */
  readonly model: string | undefined;
  /** What people call the agent. */
  readonly agent: string | undefined;
  readonly connection: Status;
  /** How long the turn has been running; absent when none runs. */
  readonly workingMs: number | undefined;
  readonly isAsking: boolean;
  /** Ctrl+C was pressed once. */
  readonly isLeaving: boolean;
  /** The step at which the creation of the session is. */
  readonly creating: string | undefined;
  readonly working: string | undefined;
}

function statusLine(facts: StatusFacts, { style, columns }: ViewOptions): string {
  const { session } = facts.state;
  const { title, provider } = session;
  const mode = modeIn(session.config?.values);
  const place = [
    ...(mode === 'ask' ? [] : [`${MODE_LABELS[mode]} mode`]),
    `${title}${chatSuffix(facts.state)}`,
    facts.model ?? facts.agent ?? provider,
    placeText(session),
  ]
    .map(printable)
    .filter(Boolean)
    .join(' · ');
  const doing = doingText(facts);
  const room = columns - widthOf(doing.text) - 2;
  const left = cut(place, Math.max(0, room));
  const gap = ' '.repeat(Math.max(1, columns - widthOf(left) - widthOf(doing.text)));
  const shown = doing.isAlarm ? style.red(style.bold(doing.text)) : style.cyan(doing.text);
  return `${style.dim(left)}${gap}${shown}`;
}

/** In a further chat, which one it is; in the first one, how many chats there are. */
function chatSuffix({ session, chat }: OpenSessionState): string {
  const row = chatTree(session).find((each) => each.chat.resource === chat.resource);
  if (row && !row.isDefault) return ` › ${chatName(session, chat)}`;
  return session.chats.length > 1 ? ` (${session.chats.length} chats)` : '';
}

interface Doing {
  readonly text: string;
  readonly isAlarm?: boolean;
}

function doingText({ connection, workingMs, isAsking, isLeaving, state, creating, working }: StatusFacts): Doing {
  if (isLeaving) return { text: 'Ctrl+C again leaves · Esc stops the turn', isAlarm: true };
  if (connection.at !== 'open') return { text: 'no connection, trying again…', isAlarm: true };
  if (isAsking) return { text: 'asks you' };
  if (workingMs !== undefined) {
    const frame = FRAMES[Math.floor(workingMs / FRAME_MS) % FRAMES.length];
    const activity = state.chat.activity ?? state.session.activity;
    const what = activity ? printable(activity) : 'working';
    return { text: `${frame} ${what} · ${clockText(workingMs)} · Esc stops` };
  }
  return { text: working ?? (state.session.lifecycle === 'creating' ? (creating ?? 'starting the agent…') : '/help') };
}

const ELSEWHERE_SHOWN_MAX = 3;

/** Other chats that wait for an answer. */
function elsewhereLines({ session, chat }: OpenSessionState, { style, columns }: ViewOptions): string[] {
  const asking = chatTree(session).filter(
    ({ asks, chat: each }) => asks !== undefined && each.resource !== chat.resource,
  );
  const lines = asking.slice(0, ELSEWHERE_SHOWN_MAX).map(({ asks, chat: each }, index) => {
    const key = index === 0 ? 'Ctrl+G goes there' : '/chats';
    return style.yellow(cut(`  ! ${key} · ${chatName(session, each)}: ${asks}`, columns));
  });
  const hidden = asking.length - lines.length;
  return [...lines, ...(hidden > 0 ? [style.yellow(`  ! ${hidden} more chats wait: /chats`)] : [])];
}

const PLAN_SHOWN_MAX = 5;
const PLAN_MARKS = { done: '✓', active: '▸', pending: '·' } as const;

/** The agent's list of tasks, around the current one. Empty when all tasks are done and no turn runs. */
function planLines({ session, chat }: OpenSessionState, { style, columns }: ViewOptions): string[] {
  const items = currentPlan(session._meta, chat);
  const progress = planProgress(items);
  if (!progress || (progress.done === progress.total && !chat.activeTurn)) return [];
  const open = items.findIndex(({ status }) => status !== 'done');
  const from = Math.max(0, Math.min((open < 0 ? items.length : open) - 1, items.length - PLAN_SHOWN_MAX));
  const shown = items.slice(from, from + PLAN_SHOWN_MAX);
  const hidden = items.length - shown.length;
  const lines = shown.map(({ text, status }) => {
    const line = cut(`  ${PLAN_MARKS[status]} ${printable(text)}`, columns);
    return status === 'active' ? style.bold(line) : style.dim(line);
  });
  const more = hidden > 0 ? `, ${hidden} not shown` : '';
  return [style.dim(cut(`  To-dos: ${progress.done} of ${progress.total} done${more}`, columns)), ...lines];
}

/** The commands that the chat runs in the background. */
function backgroundLine({ backgroundWork = [] }: ChatState, { style, columns }: ViewOptions): string[] {
  if (backgroundWork.length === 0) return [];
  const names = backgroundWork.map(({ label }) => printable(label)).join(', ');
  return [style.dim(cut(`  ${backgroundWork.length} in the background (/background): ${names}`, columns))];
}

/** Messages that wait. After a stopped turn, only a person can send them. */
function waitingLines(state: ChatState, { style, columns }: ViewOptions): string[] {
  const { queuedMessages = [], steeringMessage, activeTurn } = state;
  const line = (word: string, text: string) => style.dim(cut(`  ${word}: ${printable(text)}`, columns));
  const queued = queuedMessages.map(({ message }) => line('queued', message.text));
  const isStuck = !activeTurn && queued.length > 0;
  const [count, them] = queued.length === 1 ? ['A message waits', 'it'] : [`${queued.length} messages wait`, 'them'];
  const how = `${count}. Enter on an empty line sends ${them}, /unqueue takes the last one back.`;
  return [
    ...(steeringMessage ? [line('steering', steeringMessage.message.text)] : []),
    ...queued.slice(0, QUEUED_SHOWN_MAX),
    ...(queued.length > QUEUED_SHOWN_MAX ? [style.dim(`  … ${queued.length - QUEUED_SHOWN_MAX} more`)] : []),
    ...(isStuck ? wrap(how, columns - 2).map((text) => style.yellow(`  ${text}`)) : []),
  ];
}

/** 0:42, 12:07, 1:02:03. */
export function clockText(milliseconds: number): string {
  const seconds = Math.floor(milliseconds / 1_000);
  const [hours, minutes] = [Math.floor(seconds / 3_600), Math.floor(seconds / 60) % 60];
  const two = (value: number) => String(value).padStart(2, '0');
  return `${hours > 0 ? `${hours}:${two(minutes)}` : minutes}:${two(seconds % 60)}`;
}

function progressText({ message, done, total }: CreationProgress): string | undefined {
  const steps = total === undefined || total < 2 ? '' : ` (${done} of ${total})`;
  return message && `${printable(message)}${steps}`;
}
