/**
 * A call of a client's tool. Its owner runs it and completes it; the host only waits. When the owner has left and
 * another client takes the role with a tool of that name, the call goes on there, as a call of its own.
 */
import type { SessionActiveClient, SessionState, ToolCallState, ToolDefinition } from '@atrium/protocol';
import type { Step } from '../channels/channel.js';
import type { ToolOutcome } from '../contracts/agent.js';
import type { GateCall } from '../contracts/extension.js';
import type { ToolConfirmation } from '../contracts/tool.js';
import type { TurnRunner } from '../sessions/turn.js';
import { NO_CALL } from '../sessions/waiters.js';
import type { Given } from './arguments.js';
import {
  type Call,
  type CallStarted,
  complete,
  deny,
  gateCallOf,
  newCallId,
  outcomeOf,
  plain,
  settledCall,
  startCall,
} from './call-steps.js';
import { passGates } from './gates.js';
import { withNotes } from './notes.js';
import { tellBegins, tellEnds } from './outside-calls.js';
import { askedBy, isAllowed, readyCall } from './permission.js';

export interface ClientCallStart {
  readonly toolCallId: string;
  readonly clientId: string;
  readonly tool: ToolDefinition;
}

type Event =
  | { readonly kind: 'settled'; readonly call: ToolCallState }
  /** The owner does not know the tool. */
  | { readonly kind: 'turned-down'; readonly why: string | undefined }
  | { readonly kind: 'taken-over'; readonly clientId: string; readonly tool: ToolDefinition };

export function startedClientCall({ toolCallId, clientId, tool }: ClientCallStart): CallStarted {
  return { toolCallId, name: tool.name, displayName: tool.title ?? tool.name, toolClientId: clientId };
}

/** The call was started. Its owner sees it run only when no gate objects. */
export async function runClientTool(turn: TurnRunner, started: CallStarted, args: Given): Promise<ToolOutcome> {
  const { value: input, text } = args;
  const call = readied(started, text);
  const asked = gateCallOf(turn, call, input);
  const clearance = await passGates(turn, call, asked);
  const over = settledBefore(turn, call);
  if (over) return over;
  if (clearance.kind === 'denied') return deny(turn, call, clearance.reason);
  const outcome = await waitForOwner(turn, askedBy(call, clearance), asked);
  await tellEnds(turn, asked);
  return withNotes(turn, asked, { outcome, notes: clearance.notes });
}

/** Its owner may have been gone for too long while others were asked. */
function settledBefore(turn: TurnRunner, call: Call): ToolOutcome | undefined {
  const over = settledCall(turn, call, turn.session.committed);
  return over && outcomeOf(over);
}

async function waitForOwner(turn: TurnRunner, call: Call, asked: GateCall): Promise<ToolOutcome> {
  const mustAgree = call.confirmation !== undefined && !isAllowed(turn, call);
  if (!mustAgree) await tellBegins(turn, asked);
  const over = settledBefore(turn, call);
  if (over) return over;
  readyCall(turn, call);
  // It runs as soon as its owner hears of it, so whoever looks then may come a moment late.
  if (mustAgree)
    agreed(turn, call).then(
      () => tellBegins(turn, asked),
      () => {},
    );
  // Who has the role of the active client is about no call.
  const topics = [call.toolCallId, NO_CALL];
  const event = await turn.waitFor(topics, (state, step) => eventOf(turn, call, { state, step }));
  if (event.kind === 'settled') return outcomeOf(event.call);
  if (event.kind === 'turned-down') return complete(turn, call, unknownToClient(call, event.why));
  const { clientId, tool } = event;
  endHandedOver(turn, call, clientId);
  // What the first one has done by now belongs to the call, too.
  await tellEnds(turn, asked);
  const next = readied(startedClientCall({ toolCallId: newCallId(), clientId, tool }), call.toolInput);
  startCall(turn, next);
  // What a gate wanted a person to decide is still to be decided.
  const { isAskedAnyway = false, confirmation } = call;
  const question = isAskedAnyway ? confirmation : questionFor(tool);
  return waitForOwner(turn, { ...next, isAskedAnyway, confirmation: question }, asked);
}

/** Resolves when a person has said that it may run. */
function agreed(turn: TurnRunner, { toolCallId }: Call): Promise<true> {
  return turn.waitFor([toolCallId], (state) => turn.call(toolCallId, state)?.status === 'running' || undefined);
}

function readied(started: CallStarted, toolInput: string): Call {
  return { ...started, invocationMessage: `Use ${started.displayName}`, toolInput };
}

function eventOf(
  turn: TurnRunner,
  call: Call,
  { state, step }: { state: SessionState; step: Step<SessionState> | undefined },
): Event | undefined {
  const settled = settledCall(turn, call, state);
  if (settled) return { kind: 'settled', call: settled };
  return turnedDown(call, step) ?? takenOver(turn, call);
}

/** Only its owner can deny a call that runs: see the rules. */
function turnedDown({ toolCallId }: Call, step: Step<SessionState> | undefined): Event | undefined {
  const action = step?.envelope.action;
  if (action?.type !== 'session/toolCallConfirmed' || action.toolCallId !== toolCallId || action.approved) return;
  return { kind: 'turned-down', why: plain(action.reasonMessage) };
}

function takenOver(turn: TurnRunner, { name, toolCallId, toolClientId = '' }: Call): Event | undefined {
  if (turn.session.parts.core.connections.isConnected(toolClientId)) return undefined;
  const status = turn.call(toolCallId)?.status;
  if (status !== 'running' && status !== 'pending-confirmation') return undefined;
  const heir = presentClient(turn);
  const tool = heir?.tools.find((offered) => offered.name === name);
  return heir && tool && { kind: 'taken-over', clientId: heir.clientId, tool };
}

/** The active client, if it is here to run anything. */
export function presentClient(turn: TurnRunner): SessionActiveClient | undefined {
  const { state, parts } = turn.session;
  const { activeClient } = state;
  return activeClient && parts.core.connections.isConnected(activeClient.clientId) ? activeClient : undefined;
}

function endHandedOver(turn: TurnRunner, { toolCallId, toolClientId }: Call, heir: string): void {
  const message = `the client ${toolClientId} left; the call goes on at ${heir}`;
  const result = { success: false, pastTenseMessage: 'Lost its client', error: { message, code: 'HANDED_OVER' } };
  turn.write({ type: 'session/toolCallComplete', turnId: turn.id, toolCallId, result });
}

/** The first client may have done the work before it left. Where twice is not the same as once, a person decides. */
function questionFor({ name, title, annotations }: ToolDefinition): ToolConfirmation | undefined {
  if (annotations?.readOnlyHint || annotations?.idempotentHint) return undefined;
  return {
    title: `Run "${title ?? name}" again? The client that was running it has left; it may have done it already.`,
    options: [
      { id: 'approve', label: 'Run again', kind: 'approve' },
      { id: 'deny', label: 'Do not run', kind: 'deny' },
    ],
  };
}

function unknownToClient({ name, displayName, toolClientId }: Call, why: string | undefined) {
  const message = why ?? `the client ${toolClientId} does not know the tool ${name}`;
  return { success: false, pastTenseMessage: `Did not use ${displayName}`, error: { message, code: 'NOT_FOUND' } };
}
