/** The steps that every tool call goes through in the state: started, ready, perhaps confirmed, completed. */

import type { SessionState, ToolCallResult, ToolCallState, ToolDefinition } from '@atrium/protocol';
import type { ToolOutcome } from '../contracts/agent.js';
import type { GateCall } from '../contracts/extension.js';
import type { ToolConfirmation } from '../contracts/tool.js';
import type { TurnRunner } from '../sessions/turn.js';
import { bounded } from './bounded-result.js';
import { isLarge, shownResult } from './large-results.js';
import { textOfResult } from './model-output.js';

/** A call that is shown, and about which nothing else is known yet. */
export interface CallStarted {
  readonly toolCallId: string;
  /** As its owner knows it. */
  readonly name: string;
  readonly displayName: string;
  /** The client whose tool it is. */
  readonly toolClientId?: string;
  /** The extension whose tool it is. */
  readonly owner?: string | undefined;
  /** Who that is at present, where it may be one after the other. */
  readonly identity?: string | undefined;
}

export interface Call extends CallStarted {
  readonly invocationMessage: string;
  readonly toolInput: string;
  /** What the input must fit, also when a person changes it. */
  readonly inputSchema?: ToolDefinition['inputSchema'] | undefined;
  readonly confirmation?: ToolConfirmation | undefined;
  /** A person is asked even where the tool was allowed for good. */
  readonly isAskedAnyway?: boolean;
}

/** Of a tool that nobody here defined: a model made it up, or a backend has it. */
export const CALL_NAME_MAX_CHARACTERS = 256;
/** Of what a backend says that a call does, and of what it asks. */
export const CALL_WORDS_MAX_CHARACTERS = 4_000;

export type Denied = Extract<ToolOutcome, { kind: 'denied' }>;

export function newCallId(): string {
  return `call-${crypto.randomUUID()}`;
}

/** The id that was asked for, unless the turn has a call of that id already: nobody could tell the two apart. */
export function callId(turn: TurnRunner, wanted: string | undefined): string {
  const isTaken = wanted === undefined || turn.call(wanted);
  return isTaken ? newCallId() : wanted;
}

/** Shows that there is a call. */
export function startCall(turn: TurnRunner, call: CallStarted, meta?: Readonly<Record<string, unknown>>): void {
  const { toolCallId, name, displayName, toolClientId } = call;
  turn.interrupt();
  turn.write({
    type: 'session/toolCallStart',
    turnId: turn.id,
    toolCallId,
    toolName: name,
    displayName,
    ...(toolClientId !== undefined && { toolClientId }),
    ...(meta && { _meta: { ...meta } }),
  });
}

/** As gates see it. */
export function gateCallOf(turn: TurnRunner, { toolCallId, name, owner }: CallStarted, input: unknown): GateCall {
  const { workingDirectory } = turn;
  return {
    session: turn.session.uri,
    turnId: turn.id,
    toolCallId,
    toolName: name,
    input,
    ...(owner !== undefined && { owner }),
    ...(workingDirectory !== undefined && { workingDirectory }),
  };
}

/** The call stands still; nobody is asked, but people see for whom it waits. Not while it runs already. */
export function waitingFor(turn: TurnRunner, { toolCallId }: CallStarted, names: readonly string[]): void {
  if (turn.call(toolCallId)?.status !== 'streaming') return;
  const invocationMessage = `Waiting for ${[...new Set(names)].join(', ')}`;
  turn.write({ type: 'session/toolCallDelta', turnId: turn.id, toolCallId, content: '', invocationMessage });
}

/** Ends a call that has not run, in one tick: the state knows no shorter way to a denial. */
export async function deny(turn: TurnRunner, call: Call, reason: string): Promise<Denied> {
  const target = { turnId: turn.id, toolCallId: call.toolCallId };
  const { invocationMessage, toolInput } = call;
  if (!settledCall(turn, call, turn.session.state)) {
    turn.write({ type: 'session/toolCallReady', ...target, invocationMessage, toolInput });
    const denial = { approved: false, reason: 'denied', reasonMessage: reason } as const;
    turn.write({ type: 'session/toolCallConfirmed', ...target, ...denial });
  }
  await turn.waitFor([call.toolCallId], (state) => settledCall(turn, call, state));
  return { kind: 'denied', reason };
}

/** Ends a call that will not run, in one tick. A client whose tool it is never sees it run. */
export function completeUnrun(turn: TurnRunner, call: Call, result: ToolCallResult): Promise<ToolOutcome> {
  const { toolCallId, invocationMessage, toolInput, toolClientId } = call;
  const ready = { type: 'session/toolCallReady' as const, turnId: turn.id, toolCallId, invocationMessage, toolInput };
  turn.write({ ...ready, ...(toolClientId === undefined && { confirmed: 'not-needed' }) });
  return complete(turn, call, result);
}

/** Ends the call, and waits until that is stored, or until a person has seen the result. */
export async function complete(turn: TurnRunner, call: CallStarted, result: ToolCallResult): Promise<ToolOutcome> {
  const told = bounded(result);
  const shown = isLarge(result) ? await shownIn(turn, result, told) : told;
  // A client may have ended its call a moment before.
  if (!settledCall(turn, call, turn.session.state))
    turn.write({ type: 'session/toolCallComplete', turnId: turn.id, toolCallId: call.toolCallId, result: shown });
  const settled = await turn.waitFor([call.toolCallId], (state) => settledCall(turn, call, state));
  if (shown === told || settled.status !== 'completed') return outcomeOf(settled);
  // The agent is told what the session only names.
  const { structuredContent: _, ...rest } = settled;
  return outcomeOf({ ...rest, ...told });
}

/** What is too large for a session is kept aside, where there is a place for it. */
async function shownIn(turn: TurnRunner, result: ToolCallResult, told: ToolCallResult): Promise<ToolCallResult> {
  const { blobs, logger } = turn.session.parts.core;
  if (!blobs) return told;
  const shown = await shownResult(blobs, result).catch((error) => {
    logger.log('warn', 'a large result could not be kept aside', { error: String(error) });
    return told;
  });
  turn.signal.throwIfAborted();
  return shown;
}

export function settledCall(
  turn: TurnRunner,
  { toolCallId }: CallStarted,
  state: SessionState,
): ToolCallState | undefined {
  const call = turn.call(toolCallId, state);
  return call?.status === 'completed' || call?.status === 'cancelled' ? call : undefined;
}

export function outcomeOf(call: ToolCallState): ToolOutcome {
  if (call.status !== 'completed') return { kind: 'denied', reason: reasonOf(call) };
  const { success, content = [], toolCallId: callId } = call;
  return { kind: 'completed', success, text: textOfResult(call), content, callId };
}

/** Why a call did not run, in words for the model: what a person would have liked instead says most. */
export function reasonOf(call: ToolCallState): string {
  if (call.status !== 'cancelled') return 'the call is over';
  const plainly = call.reason === 'skipped' ? 'the person skipped it' : 'the person said no';
  return call.userSuggestion?.text ?? plain(call.reasonMessage) ?? plainly;
}

export function plain(text: string | { markdown: string } | undefined): string | undefined {
  return typeof text === 'object' ? text.markdown : text;
}
