/** How `run` shows a turn: the answer on standard output, everything else beside it; or one JSON object per line. */
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
  let isEmpty = true;
  let lastCharacter = '\n';
  const ticker = new Ticker(process.stderr);
  // A program gets the answer as it is; a terminal must not obey it.
  const shown = process.stdout.isTTY ? printableLines : (text: string) => text;
  return {
    news(news) {
      if (news.kind === 'reasoning') return;
      ticker.hush(news.kind === 'text' ? news.text.endsWith('\n') : lastCharacter === '\n');
      if (news.kind === 'note') tell(`note: ${printable(news.text)}`);
      if (news.kind === 'call') tellCall(news);
      if (news.kind !== 'text') return;
      process.stdout.write(news.isNewPart && !isEmpty ? `\n\n${shown(news.text)}` : shown(news.text));
      isEmpty = false;
      lastCharacter = news.text.at(-1) ?? lastCharacter;
    },
    denied(toolName) {
      ticker.hush(lastCharacter === '\n');
      tell(`denied: ${printable(toolName)} wanted to run; allow it with --approve all`);
    },
    done(_session, { turn }) {
      ticker.stop();
      if (lastCharacter !== '\n') process.stdout.write('\n');
      if (turn.state === 'error') tell(`error: ${printable(turn.error?.message ?? 'the turn failed')}`);
      if (turn.state === 'cancelled') tell('The turn was stopped.');
    },
    close: () => ticker.stop(),
  };
}

function tellCall({ call }: Extract<News, { kind: 'call' }>): void {
  if (call.status === 'running') tell(`> ${printable(plain(call.invocationMessage))}`);
  if (call.status === 'completed') tell(`${call.success ? '✓' : '✗'} ${printable(plain(call.pastTenseMessage))}`);
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
