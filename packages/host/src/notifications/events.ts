/**
 * Events that people may want to hear of, found in the actions of sessions. Finding the same event again gives it the
 * same id.
 */
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
  /** The waiting entry of `inputNeeded`, and a digest of what was asked. */
  readonly question?: { readonly entry: string; readonly digest: string };
  readonly turnId?: string;
  /** What failed, or the beginning of the answer. */
  readonly text?: string;
  /** The title, for an event without a session. */
  readonly title?: string;
}

export function idOf(...parts: readonly string[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('base64url').slice(0, 22);
}

/** A question to a person; undefined for requests that a client answers by itself. */
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

/** A digest of what a person would agree to. Text typed so far, and a judge's opinion of the risk, do not change it. */
export function digestOf(request: SessionInputRequest): string {
  if (request.kind === 'chatInput') return idOf(request.request.id, request.request.message ?? '');
  if (request.kind === 'toolClientExecution') return '';
  const { toolCallId, toolName, status } = request.toolCall;
  return idOf(request.turnId, toolCallId, toolName, status, JSON.stringify(inputOf(request.toolCall) ?? ''));
}

export function inputOf(call: ToolCallState): unknown {
  return 'toolInput' in call ? call.toolInput : undefined;
}

/**
 * The end of a turn; undefined when none ended, or a person ended it. Workers report to the turn that they work for, so
 * their ends do not count.
 */
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
