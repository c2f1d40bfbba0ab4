/**
 * Knows which parts of a session have gone up into the scrollback, and which still change. The cost of an update
 * depends on
 * the new parts only, however long the session is: every part of an answer goes up once, as soon as it is final.
 */
import type { OpenSessionState } from '@atrium/client';
import {
  asksOneOf,
  compactionIn,
  isPicture,
  type Message,
  type ResponsePart,
  steeringIn,
  type ToolCallState,
  type Turn,
} from '@atrium/protocol/ahp-1';
import {
  type AnyTurn,
  failureOf,
  isOver,
  openRequests,
  outputText,
  plain,
  questionText,
} from '../sessions/turn-text.js';
import { MarkdownStream } from '../text/markdown.js';
import { printable, printableLines } from '../text/printable.js';
import { sealed, wrap } from '../text/width.js';
import { callLines, editsOf, type ViewOptions } from './call-view.js';
import type { EditDiff } from './edits.js';
import { type WorkerView, workersIn } from './live-workers.js';
import { type PictureRef, pictureLine, pictureOfPart, picturesOfCall, picturesOfMessage } from './pictures.js';

interface TranscriptOptions {
  view(): ViewOptions;
  /** The diffs of a call of the running turn, or of a finished turn. */
  diffs(call: ToolCallState, isLive: boolean): readonly EditDiff[];
  /** The end of the output of a running call's terminal. */
  tail?(call: ToolCallState): string;
  /** The workers of a call. */
  workers?(call: ToolCallState): readonly WorkerView[];
  /** Shows pictures whose lines have just gone up. */
  pictures?(pictures: readonly PictureRef[]): void;
}

interface TurnPosition {
  readonly turnId: string;
  readonly isLive: boolean;
  part: number;
  /** How many characters of the part have been read. */
  read: number;
  stream: MarkdownStream | undefined;
}

export class Transcript {
  readonly #options: TranscriptOptions;
  /** The ids of the turns that have gone up. */
  readonly #shown = new Set<string>();
  #last: string | undefined;
  #position: TurnPosition | undefined;
  /** Pictures of turns that had ended at the first update are only named. */
  #isFirstLook = true;

  constructor(options: TranscriptOptions) {
    this.#options = options;
  }

  /** Counts all turns as shown. */
  skip({ chat: { turns } }: OpenSessionState): void {
    for (const { id } of turns) this.#shown.add(id);
    this.#last = turns.at(-1)?.id;
  }

  /** The lines that have become final since the last call. */
  finished({ chat: { turns, activeTurn } }: OpenSessionState): string[] {
    const lines: string[] = [];
    // A failed turn that resumes leaves the history, and comes back with more parts.
    if (activeTurn && this.#shown.delete(activeTurn.id)) this.#last = turns.at(-1)?.id;
    const ended = turns.at(-1);
    // It may have come back between two updates.
    const hasMore =
      this.#position?.turnId === ended?.id && (ended?.responseParts.length ?? 0) > (this.#position?.part ?? 0);
    if (ended && hasMore) this.#shown.delete(ended.id);
    let fresh = turns.length;
    while (fresh > 0 && !this.#shown.has(turns[fresh - 1]?.id ?? '')) fresh -= 1;
    const last = ended?.id;
    if (fresh === turns.length && last !== this.#last)
      lines.push(this.#options.view().style.dim('― history was cut ―'));
    this.#last = last;
    for (const turn of turns.slice(fresh)) lines.push(...this.#advance(turn));
    this.#isFirstLook = false;
    if (activeTurn) lines.push(...this.#advance(activeTurn));
    return lines;
  }

  /** The part that still changes, in its current form. */
  live(state: OpenSessionState): string[] {
    const { activeTurn } = state.chat;
    const position = this.#position;
    if (!activeTurn || activeTurn.id !== position?.turnId) return [];
    const view = this.#options.view();
    const requests = openRequests(state).map(({ request }) => request);
    return activeTurn.responseParts.slice(position.part).flatMap((part, index) => {
      if (index === 0 && position.stream) return styled(part, position.stream.peek(), view);
      // The prompt shows the open question.
      if (part.kind === 'inputRequest') return [];
      if (part.kind !== 'toolCall') return this.#whole(part, view);
      // The question for permission shows the same, and so does a question that the call itself asks.
      const { status } = part.toolCall;
      if (status === 'pending-confirmation' || asksOneOf(part.toolCall, requests)) return [];
      return this.#call(part.toolCall, true);
    });
  }

  #advance(turn: AnyTurn): string[] {
    const lines: string[] = [];
    const view = this.#options.view();
    if (this.#position?.turnId !== turn.id) {
      this.#position = { turnId: turn.id, isLive: !isOver(turn), part: 0, read: 0, stream: undefined };
      lines.push(...messageLines(turn.message, view));
      this.#showPictures(picturesOfMessage(turn.message));
    }
    const position = this.#position;
    for (; position.part < turn.responseParts.length; position.part += 1) {
      const part = turn.responseParts[position.part];
      const isLast = position.part === turn.responseParts.length - 1;
      const isFinal = isOver(turn) || isSettled(part, isLast);
      if (part) lines.push(...this.#part(part, position, isFinal));
      if (part && isFinal) this.#showPictures(picturesIn(part));
      if (!isFinal) return lines;
      Object.assign(position, { read: 0, stream: undefined });
    }
    if (!isOver(turn)) return lines;
    this.#shown.add(turn.id);
    return [...lines, ...endLines(turn, view)];
  }

  #part(part: ResponsePart, position: TurnPosition, isFinal: boolean): string[] {
    const view = this.#options.view();
    if (part.kind === 'toolCall') return isFinal ? [...this.#call(part.toolCall, position.isLive), ''] : [];
    // The form has put question and answer into the scrollback.
    if (part.kind === 'inputRequest' && position.isLive) return [];
    if (part.kind !== 'markdown' && part.kind !== 'reasoning') return isFinal ? [...this.#whole(part, view), ''] : [];
    position.stream ??= new MarkdownStream(view);
    position.stream.columns = view.columns;
    const lines = position.stream.push(part.content.slice(position.read));
    position.read = part.content.length;
    return styled(part, isFinal ? [...lines, ...position.stream.end(), ''] : lines, view);
  }

  #showPictures(pictures: readonly PictureRef[]): void {
    if (pictures.length > 0 && !this.#isFirstLook) this.#options.pictures?.(pictures);
  }

  #call(call: ToolCallState, isLive: boolean): string[] {
    const diffs = editsOf(call).length > 0 ? this.#options.diffs(call, isLive) : [];
    const tail = outputText(call) === '' ? (this.#options.tail?.(call) ?? '') : '';
    const workers = workersIn(call).length > 0 ? (this.#options.workers?.(call) ?? []) : [];
    return callLines(call, { diffs, tail, workers }, this.#options.view());
  }

  #whole(part: ResponsePart, view: ViewOptions): string[] {
    if (part.kind === 'markdown' || part.kind === 'reasoning') {
      const stream = new MarkdownStream(view);
      return styled(part, [...stream.push(part.content), ...stream.end()], view);
    }
    const steering = steeringIn(part);
    if (steering) return messageLines(steering, view).slice(0, -1);
    const picture = pictureOfPart(part);
    if (picture) return [pictureLine(picture, view)];
    if (part.kind === 'error') return errorLines(part.error.message, view);
    if (part.kind === 'inputRequest') return noteLines(questionText(part), view);
    if (part.kind !== 'systemNotification') return noteLines(placeholder(part), view);
    const summary = compactionIn(part);
    if (summary) return noteLines(summaryText(plain(part.content)), view);
    // Notes of providers already begin with the sign of a note.
    return noteLines(plain(part.content).replace(/^※ /, ''), view);
  }
}

/** The chat shows the beginning of a summary; `atrium sessions show` has all of it. */
const SUMMARY_LINES_MAX = 14;

function summaryText(text: string): string {
  const lines = text.split('\n');
  const rest = lines.length - SUMMARY_LINES_MAX;
  return rest <= 0 ? text : [...lines.slice(0, SUMMARY_LINES_MAX), `… ${rest} more lines`].join('\n');
}

/** Reasoning is dimmed. */
function styled(part: ResponsePart, lines: readonly string[], { style }: ViewOptions): string[] {
  if (part.kind !== 'reasoning') return [...lines];
  return lines.map((line) => (line === '' ? '' : style.dim(style.italic(line))));
}

export function noteLines(text: string, { style, columns }: ViewOptions): string[] {
  const lines = printableLines(text).trim().split('\n');
  return sealed(lines.flatMap((line) => wrap(line, columns - 2))).map((line, index) =>
    style.dim(`${index === 0 ? '※ ' : '  '}${line}`),
  );
}

function picturesIn(part: ResponsePart): readonly PictureRef[] {
  if (part.kind === 'toolCall') return picturesOfCall(part.toolCall);
  const picture = pictureOfPart(part);
  return picture ? [picture] : [];
}

/** Names content of an unknown kind instead of failing. */
function placeholder(part: ResponsePart): string {
  const { kind, uri } = part as { kind: string; uri?: unknown };
  return `[${printable(kind)}${typeof uri === 'string' ? `: ${printable(uri)}` : ''}]`;
}

/** A text grows until another part follows; a call runs beside others; a question is over with its answer. */
function isSettled(part: ResponsePart | undefined, isLast: boolean): boolean {
  if (part?.kind === 'toolCall') return part.toolCall.status === 'completed' || part.toolCall.status === 'cancelled';
  return part?.kind === 'inputRequest' ? part.response !== undefined : !isLast;
}

/** The chat shows this much of a long pasted message. */
const MESSAGE_LINES_MAX = 30;

function messageLines(message: Message, view: ViewOptions): string[] {
  const { text, attachments = [] } = message;
  const { style, columns } = view;
  const all = printableLines(text)
    .split('\n')
    .flatMap((line) => wrap(line, columns - 2));
  const shown = all.slice(0, MESSAGE_LINES_MAX);
  const hidden = all.length - shown.length;
  return [
    ...shown.map((line, index) => `${style.bold(style.green(index === 0 ? '> ' : '  '))}${style.bold(line)}`),
    ...(hidden > 0 ? [style.dim(`  … ${hidden} more lines`)] : []),
    ...attachments.filter((each) => !isPicture(each)).map(({ label }) => style.dim(`  + ${printable(label)}`)),
    ...picturesOfMessage(message).map((picture) => pictureLine(picture, view)),
    '',
  ];
}

function errorLines(message: string, { style, columns }: ViewOptions): string[] {
  return wrap(`✗ ${printable(message)}`, columns).map((line) => style.red(line));
}

function endLines(turn: Turn, view: ViewOptions): string[] {
  const { state, usage } = turn;
  const { style } = view;
  if (state === 'cancelled') return [style.yellow('Stopped.'), ''];
  if (state === 'error') {
    const failure = failureOf(turn);
    if (!failure) return [...errorLines('The turn failed.', view), ''];
    return failure.resumable ? [style.yellow('/resume goes on where it stopped.'), ''] : [];
  }
  const spent = usage && [
    ...(usage.model === undefined ? [] : [printable(usage.model)]),
    ...(usage.inputTokens === undefined ? [] : [`${usage.inputTokens} tokens in`]),
    ...(usage.outputTokens === undefined ? [] : [`${usage.outputTokens} out`]),
  ];
  return spent && spent.length > 0 ? [style.dim(spent.join(' · ')), ''] : [];
}
