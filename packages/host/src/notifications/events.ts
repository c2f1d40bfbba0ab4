/** What people may want to be told: found in the actions of sessions, each with an id that is the same whenever it is found. */
import { createHash } from 'node:crypto';
import type { ChatStep } from '@atrium/core/sessions/session-observer.js';
import { shorten } from '@atrium/core/util/text.js';
import {
  BUDGET_QUESTION,
  type NotificationEvent,
  type SessionInputRequest,
  type ToolCallState,
  type Turn,
} from '@atrium/protocol/ahp-1';
import { BODY_MAX_CHARACTERS } from './limits.js';

/** What happened, in the words that a notification may need after a restart. */
export interface FoundEvent {
  readonly id: string;
  readonly event: NotificationEvent;
  readonly session: string;
  readonly chat?: string;
  /** The entry of `inputNeeded` that waits, and what exactly was asked. */
  readonly question?: { readonly entry: string; readonly digest: string };
  readonly turnId?: string;
  /** What failed, or how the answer begins. */
  readonly text?: string;
  /** What the host calls it, where it has no session. */
  readonly title?: string;
}

export function idOf(...parts: readonly string[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('base64url').slice(0, 22);
}

/** A question to a person; undefined for what a client does by itself. */
export function questionIn(session: string, request: SessionInputRequest): FoundEvent | undefined {
  if (request.kind === 'toolClientExecution') return undefined;
  const { id: entry, chat } = request;
  const digest = digestOf(request);
  const isBudget = request.kind === 'chatInput' && request.request.id.startsWith(BUDGET_QUESTION);
  return {
    ...{ id: idOf('question', session, entry, digest), session, chat, question: { entry, digest } },
    event: isBudget ? 'budget' : 'question',
    ...('turnId' in request && { turnId: request.turnId }),
  };
}

/** Of what a person would say yes to. What they have typed so far, and how risky a judge finds it, does not change it. */
export function digestOf(request: SessionInputRequest): string {
  if (request.kind === 'chatInput') return idOf(request.request.id, request.request.message ?? '');
  if (request.kind === 'toolClientExecution') return '';
  const { toolCallId, toolName, status } = request.toolCall;
  return idOf(request.turnId, toolCallId, toolName, status, JSON.stringify(inputOf(request.toolCall) ?? ''));
}

export function inputOf(call: ToolCallState): unknown {
  return 'toolInput' in call ? call.toolInput : undefined;
}

/** The end of a turn; undefined when none ended, or a person ended it. Workers tell the turn that they work for. */
export function endIn(session: string, { chat, before, after }: ChatStep): FoundEvent | undefined {
  const { activeTurn } = before;
  if (!activeTurn || after.activeTurn?.id === activeTurn.id || after.origin?.kind === 'tool') return undefined;
  const turn = after.turns.at(-1);
  if (turn?.id !== activeTurn.id || (turn.state !== 'complete' && turn.state !== 'error')) return undefined;
  const event = turn.state === 'complete' ? 'ended' : 'failed';
  const text = turnText(turn);
  const id = idOf('end', session, chat.uri, turn.id, String(turn.responseParts.length));
  return { id, event, session, chat: chat.uri, turnId: turn.id, ...(text && { text }) };
}

function turnText({ responseParts }: Turn): string {
  const last = responseParts.findLast(({ kind }) => kind === 'markdown' || kind === 'error');
  if (last?.kind === 'error') return shorten(last.error.message, BODY_MAX_CHARACTERS);
  return last?.kind === 'markdown' ? shorten(last.content.slice(0, 4 * BODY_MAX_CHARACTERS), BODY_MAX_CHARACTERS) : '';
}
