/** The line at the bottom: where one is, what happens, and which keys help now. */
import type { Status } from '@atrium/client';
import type { SessionState } from '@atrium/protocol';
import { folderText } from '../sessions/words.js';
import { printable } from '../text/printable.js';
import { cut, widthOf } from '../text/width.js';
import type { ViewOptions } from './call-view.js';

const FRAMES = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];
export const FRAME_MS = 150;

export interface StatusFacts {
  readonly state: SessionState;
  readonly connection: Status;
  /** For how long the turn has been running; absent when none is. */
  readonly workingMs: number | undefined;
  readonly isAsking: boolean;
}

export function statusLine(facts: StatusFacts, { style, columns }: ViewOptions): string {
  const { summary } = facts.state;
  const { title, provider, model, workingDirectory } = summary;
  const place = [title, model?.id ?? provider, folderText(workingDirectory)].map(printable).filter(Boolean).join(' · ');
  const doing = doingText(facts);
  const room = columns - widthOf(doing.text) - 2;
  const left = cut(place, Math.max(0, room));
  const gap = ' '.repeat(Math.max(1, columns - widthOf(left) - widthOf(doing.text)));
  const shown = doing.isAlarm ? style.red(style.bold(doing.text)) : style.cyan(doing.text);
  return `${style.dim(left)}${gap}${shown}`;
}

function doingText({ connection, workingMs, isAsking, state }: StatusFacts): { text: string; isAlarm?: boolean } {
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

export function waitingLines(
  { queuedMessages = [], steeringMessage }: SessionState,
  { style, columns }: ViewOptions,
): string[] {
  const line = (word: string, text: string) => style.dim(cut(`  ${word}: ${printable(text)}`, columns));
  return [
    ...(steeringMessage ? [line('steering', steeringMessage.userMessage.text)] : []),
    ...queuedMessages.map(({ userMessage }) => line('queued', userMessage.text)),
  ];
}
