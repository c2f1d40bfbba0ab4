/** How `run` shows a turn: the answer on standard output, everything else beside it; or one JSON object per line. */

import type { ToolCallState } from '@atrium/protocol';
import { io } from '../io.js';
import { printJson, tell } from '../output.js';
import { answerText, plain } from '../sessions/turns.js';
import { printable, printableLines } from '../text/printable.js';
import type { News } from './progress.js';
import type { RunOutcome } from './run-turn.js';
import { Ticker } from './ticker.js';

export interface RunReport {
  news(news: News): void;
  denied(toolName: string): void;
  done(session: string, outcome: RunOutcome): void;
  /** Nothing more is said, whatever happened. */
  close(): void;
}

export function textReport(): RunReport {
  const ticker = new Ticker(io().stderr);
  const answer = new AnswerText(io().stdout.isTTY === true);
  /** What is said beside the answer must not stand in the middle of one of its lines: it waits for the end of it. */
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
    news(news) {
      if (news.isNewPart) {
        ticker.hush(true);
        answer.endPart();
        flush();
      }
      if (news.kind === 'note') beside(`note: ${printable(news.text)}`);
      if (news.kind === 'call') for (const line of callLine(news.call)) beside(line);
      if (news.kind !== 'text') return;
      ticker.hush(news.text.endsWith('\n'));
      answer.write(news.text);
    },
    denied: (toolName) => beside(`denied: ${printable(toolName)} wanted to run; allow it with --approve all`),
    done(_session, { turn }) {
      ticker.stop();
      answer.endPart();
      flush();
      if (turn.state === 'error') tell(`error: ${printable(turn.error?.message ?? 'the turn failed')}`);
      if (turn.state === 'cancelled') tell('The turn was stopped.');
    },
    close: () => ticker.stop(),
  };
}

/** The answer on standard output: its parts stand a blank line apart, and the last one ends with its line. */
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
    // A program gets the answer as it is; a terminal must not obey it.
    io().stdout.write(this.#isTerminal ? printableLines(text) : text);
  }

  endPart(): void {
    this.#isPartOver = true;
    if (this.isAtLineStart) return;
    io().stdout.write('\n');
    this.#last = '\n';
  }
}

function callLine(call: ToolCallState): string[] {
  if (call.status === 'running') return [`> ${printable(plain(call.invocationMessage))}`];
  if (call.status !== 'completed') return [];
  return [`${call.success ? '✓' : '✗'} ${printable(plain(call.pastTenseMessage))}`];
}

export function jsonReport(): RunReport {
  return {
    news: (news) => printJson(news.kind === 'call' ? { type: 'call', call: news.call } : jsonText(news)),
    denied: (toolName) => printJson({ type: 'denied', toolName }),
    done: (session, { turn, denied }) => {
      const { id: turnId, state, usage, error, responseParts } = turn;
      const text = answerText(responseParts);
      printJson({ type: 'result', session, turnId, state, text, usage, error, denied });
    },
    close: () => {},
  };
}

function jsonText({ kind, text }: Exclude<News, { kind: 'call' }>): object {
  return { type: kind, text };
}
