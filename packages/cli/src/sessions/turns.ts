/** Reads turns out of a session's state. */
import type { ActiveTurn, ResponsePart, SessionState, StringOrMarkdown, ToolCallState, Turn } from '@atrium/protocol';
import type { PendingCall } from './confirm.js';

export type AnyTurn = ActiveTurn | Turn;

/** The turn with this id, running or over. New ones stand at the end. */
export function turnOf({ activeTurn, turns }: SessionState, id: string): AnyTurn | undefined {
  return activeTurn?.id === id ? activeTurn : turns.findLast((turn) => turn.id === id);
}

export function isOver(turn: AnyTurn): turn is Turn {
  return 'state' in turn;
}

export function callsIn(turn: AnyTurn | undefined): ToolCallState[] {
  return (turn?.responseParts ?? []).flatMap((part) => (part.kind === 'toolCall' ? [part.toolCall] : []));
}

export function pendingCalls(turn: AnyTurn | undefined): PendingCall[] {
  return callsIn(turn).filter((call) => call.status === 'pending-confirmation');
}

/** The answer without reasoning, calls and notes. */
export function answerText(parts: readonly ResponsePart[]): string {
  return parts.flatMap((part) => (part.kind === 'markdown' ? [part.content] : [])).join('\n\n');
}

export function plain(text: StringOrMarkdown | undefined): string {
  if (text === undefined) return '';
  return typeof text === 'string' ? text : text.markdown;
}

/** What a tool returned, as far as it is text. */
export function outputText(call: ToolCallState): string {
  const content = 'content' in call ? (call.content ?? []) : [];
  return content.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('\n');
}
