/**
 * Shows a turn of `run`: the answer on standard output, everything else on standard error; or one JSON object per line.
 */
import type { ResponsePart, ToolCallState, Turn } from '@atrium/protocol/ahp-1';
import { io, printJson, tell } from '../io.js';
import { type AnyTurn, answerText, failureOf, plain } from '../sessions/turn-text.js';
import { printable, printableLines } from '../text/printable.js';
import type { RunOutcome } from './run-turn.js';

interface RunReport {
  update(update: TurnUpdate): void;
  denied(toolName: string): void;
  done(session: string, outcome: RunOutcome): void;
  /** Ends the report without a result. */
  close(): void;
}

export function textReport(): RunReport {
  const ticker = new Ticker(io().stderr);
  const answer = new AnswerText(io().stdout.isTTY === true);
  /** Messages on standard error wait for the end of the answer's line. */
  let waiting: string[] = [];
  const flush = () => {
    for (const line of waiting) tell(line);
    waiting = [];
  };
  const beside = (line: string) => {
    waiting.push(line);
    ticker.hush(answer.isAtLineStart);
    if (answer.isAtLineStart) flush();
  };
  return {
    update(update) {
      if (update.isNewPart) {
        ticker.hush(true);
        answer.endPart();
        flush();
      }
      if (update.kind === 'note') beside(`note: ${printable(update.text)}`);
      if (update.kind === 'call') for (const line of callLine(update.call)) beside(line);
      if (update.kind !== 'text') return;
      ticker.hush(update.text.endsWith('\n'));
      answer.write(update.text);
    },
    denied: (toolName) => beside(`denied: ${printable(toolName)} wanted to run; allow it with --approve all`),
    done(_session, { turn }) {
      ticker.stop();
      answer.endPart();
      flush();
      if (turn.state === 'error') tellFailure(turn);
      if (turn.state === 'cancelled') tell('The turn was stopped.');
    },
    close: () => ticker.stop(),
  };
}

/** Writes the answer to standard output, with blank lines between its parts and a line break at the end. */
class AnswerText {
  readonly #isTerminal: boolean;
  #isEmpty = true;
  #isPartOver = false;
  #last = '\n';

  constructor(isTerminal: boolean) {
    this.#isTerminal = isTerminal;
  }

  get isAtLineStart(): boolean {
    return this.#last === '\n';
  }

  write(text: string): void {
    if (this.#isPartOver && !this.#isEmpty) io().stdout.write('\n');
    this.#isPartOver = false;
    this.#isEmpty = false;
    this.#last = text.at(-1) ?? this.#last;
    // A program gets the answer unchanged; a terminal must not obey escape sequences in it.
    io().stdout.write(this.#isTerminal ? printableLines(text) : text);
  }

  endPart(): void {
    this.#isPartOver = true;
    if (this.isAtLineStart) return;
    io().stdout.write('\n');
    this.#last = '\n';
  }
}

function tellFailure(turn: Turn): void {
  const { error, resumable } = failureOf(turn) ?? {};
  tell(`error: ${printable(error?.message ?? 'the turn failed')}`);
  if (resumable) tell('It can go on where it stopped: atrium run --session last --resume');
}

function callLine(call: ToolCallState): string[] {
  if (call.status === 'running') return [`> ${printable(plain(call.invocationMessage))}`];
  if (call.status !== 'completed') return [];
  return [`${call.success ? '✓' : '✗'} ${printable(plain(call.pastTenseMessage))}`];
}

export function jsonReport(): RunReport {
  return {
    update: (update) => printJson(update.kind === 'call' ? { type: 'call', call: update.call } : jsonText(update)),
    denied: (toolName) => printJson({ type: 'denied', toolName }),
    done: (session, { turn, denied }) => {
      const { id: turnId, state, usage, responseParts } = turn;
      const text = answerText(responseParts);
      const { error, resumable } = failureOf(turn) ?? {};
      printJson({ type: 'result', session, turnId, state, text, usage, error, resumable, denied });
    },
    close: () => {},
  };
}

function jsonText({ kind, text }: Exclude<TurnUpdate, { kind: 'call' }>): object {
  return { type: kind, text };
}

// The news of a turn since the last update. An update costs only the news, however long the turn is.

export type TurnUpdate =
  | { readonly kind: 'text' | 'reasoning'; readonly text: string; readonly isNewPart: boolean }
  /** Calls run beside the text: the update of a call may come while the agent writes a later part. */
  | { readonly kind: 'call'; readonly call: ToolCallState; readonly isNewPart: boolean }
  | { readonly kind: 'note'; readonly text: string; readonly isNewPart: boolean };

export class Progress {
  /** Parts before this one never change again. */
  #settled = 0;
  /** How many characters of a text, or which state of a call, has been reported; by the index of the part. */
  readonly #told = new Map<number, number | string>();

  /** Counts the existing parts as reported. */
  skip(turn: AnyTurn): void {
    this.read(turn);
  }

  read({ responseParts }: AnyTurn): TurnUpdate[] {
    const updates: TurnUpdate[] = [];
    for (let index = this.#settled; index < responseParts.length; index += 1) {
      const part = responseParts[index];
      if (part) updates.push(...this.#updatesOf(part, index));
    }
    while (this.#settled < responseParts.length - 1 && isSettled(responseParts[this.#settled])) {
      this.#told.delete(this.#settled);
      this.#settled += 1;
    }
    return updates;
  }

  #updatesOf(part: ResponsePart, index: number): TurnUpdate[] {
    if (part.kind === 'markdown') return this.#text('text', part.content, index);
    if (part.kind === 'reasoning') return this.#text('reasoning', part.content, index);
    if (part.kind === 'toolCall') return this.#call(part.toolCall, index);
    if (part.kind !== 'systemNotification' || this.#told.has(index)) return [];
    this.#told.set(index, '');
    const text = typeof part.content === 'string' ? part.content : part.content.markdown;
    return [{ kind: 'note', text, isNewPart: true }];
  }

  #text(kind: 'text' | 'reasoning', content: string, index: number): TurnUpdate[] {
    const told = Number(this.#told.get(index) ?? 0);
    if (content.length <= told) return [];
    this.#told.set(index, content.length);
    return [{ kind, text: content.slice(told), isNewPart: told === 0 }];
  }

  #call(call: ToolCallState, index: number): TurnUpdate[] {
    const told = this.#told.get(index);
    if (told === call.status) return [];
    this.#told.set(index, call.status);
    return [{ kind: 'call', call, isNewPart: told === undefined }];
  }
}

/** Texts stop growing when another part follows; calls may run side by side. */
function isSettled(part: ResponsePart | undefined): boolean {
  return part?.kind !== 'toolCall' || part.toolCall.status === 'completed' || part.toolCall.status === 'cancelled';
}

// The sign of life on a terminal; anything else that is written erases it first.

const TICK_MS = 1_000;
/** A shorter silence needs no explanation. */
const SILENCE_MS = 2_000;
const ERASE_LINE = '\r\u001b[K';

interface TickerOutput {
  readonly isTTY?: boolean;
  write(text: string): boolean;
}

export class Ticker {
  readonly #out: TickerOutput;
  readonly #began = performance.now();
  readonly #timer: NodeJS.Timeout | undefined;
  #heardAt = performance.now();
  #isLineComplete = true;
  #isShown = false;

  constructor(out: TickerOutput, env: NodeJS.ProcessEnv = io().env) {
    this.#out = out;
    if (out.isTTY && env.TERM !== 'dumb') this.#timer = setInterval(() => this.#tick(), TICK_MS);
  }

  /** Call it before writing. `endsLine`: whether the cursor is at the beginning of a line afterwards. */
  hush(endsLine: boolean): void {
    if (this.#isShown) this.#out.write(ERASE_LINE);
    this.#isShown = false;
    this.#isLineComplete = endsLine;
    this.#heardAt = performance.now();
  }

  stop(): void {
    this.hush(false);
    clearInterval(this.#timer);
  }

  #tick(): void {
    const now = performance.now();
    if (!this.#isLineComplete || now - this.#heardAt < SILENCE_MS) return;
    this.#isShown = true;
    this.#out.write(`${ERASE_LINE}… working, ${Math.floor((now - this.#began) / 1_000)} s`);
  }
}
