/**
 * A call of a client's tool. Its owner runs it and completes it; the host only waits. When the owner has left and
 * another client takes the role with a tool of that name, the call goes on there, as a call of its own.
 */
import type { SessionActiveClient, SessionState, ToolCallState, ToolDefinition } from '@atrium/protocol';
import type { ToolOutcome } from '../agents/agent.js';
import type { Step } from '../channels/channel.js';
import { findCall } from '../sessions/rules/tool-calls.js';
import type { TurnRunner } from '../sessions/turn.js';
import type { ToolConfirmation } from '../tools/tool.js';
import {
  type Call,
  complete,
  deny,
  gateCallOf,
  newCallId,
  outcomeOf,
  parsedInput,
  plain,
  readyCall,
  settledCall,
  startCall,
} from './call-steps.js';
import { passGates } from './gates.js';
import { withNotes } from './notes.js';

export interface ClientCall {
  readonly toolCallId: string;
  readonly clientId: string;
  readonly tool: ToolDefinition;
  readonly toolInput: string;
}

type Event =
  | { readonly kind: 'settled'; readonly call: ToolCallState }
  /** The owner does not know the tool. */
  | { readonly kind: 'turned-down'; readonly why: string | undefined }
  | { readonly kind: 'taken-over'; readonly clientId: string; readonly tool: ToolDefinition };

export function startClientCall(turn: TurnRunner, call: Pick<ClientCall, 'toolCallId' | 'clientId' | 'tool'>): void {
  startCall(turn, callOf({ ...call, toolInput: '' }));
}

/** The call was started. Its owner sees it run only when no gate objects. */
export async function runClientTool(turn: TurnRunner, request: ClientCall): Promise<ToolOutcome> {
  const call = callOf(request);
  const asked = gateCallOf(turn, call, parsedInput(call.toolInput));
  const clearance = await passGates(turn, call, asked);
  if (clearance.kind === 'denied') return deny(turn, call, clearance.reason);
  const { ask, notes } = clearance;
  const wanted: Call = ask === undefined ? call : { ...call, isAskedAnyway: true, confirmation: { title: ask } };
  return withNotes(turn, asked, { outcome: await waitForOwner(turn, wanted), notes });
}

async function waitForOwner(turn: TurnRunner, call: Call): Promise<ToolOutcome> {
  readyCall(turn, call);
  const event = await turn.waitFor((state, step) => eventOf(turn, call, { state, step }));
  if (event.kind === 'settled') return outcomeOf(event.call);
  if (event.kind === 'turned-down') return complete(turn, call, unknownToClient(call, event.why));
  const { clientId, tool } = event;
  endHandedOver(turn, call, clientId);
  const next = callOf({ toolCallId: newCallId(), clientId, tool, toolInput: call.toolInput });
  startCall(turn, next);
  return waitForOwner(turn, { ...next, confirmation: questionFor(tool) });
}

function callOf({ tool, clientId, ...rest }: ClientCall): Call {
  const displayName = tool.title ?? tool.name;
  return { ...rest, name: tool.name, displayName, invocationMessage: `Use ${displayName}`, toolClientId: clientId };
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
  const { state, parts } = turn.session;
  const status = findCall(state, { turnId: turn.id, toolCallId })?.status;
  if (status !== 'running' && status !== 'pending-confirmation') return undefined;
  if (parts.core.connections.isConnected(toolClientId)) return undefined;
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
