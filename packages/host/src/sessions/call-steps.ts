/** The steps that every tool call goes through in the state: started, ready, perhaps confirmed, completed. */
import type { SessionState, ToolCallResult, ToolCallState, ToolResultContent } from '@atrium/protocol';
import type { ToolOutcome } from '../agents/agent.js';
import { ALLOW_IN_SESSION, type ToolConfirmation } from '../tools/tool.js';
import { findCall } from './rules/tool-calls.js';
import type { TurnRunner } from './turn.js';

export interface Call {
  readonly toolCallId: string;
  /** As its owner knows it. */
  readonly name: string;
  readonly displayName: string;
  readonly invocationMessage: string;
  readonly toolInput: string;
  readonly toolClientId?: string;
  readonly confirmation?: ToolConfirmation | undefined;
}

export type Permit =
  | { readonly kind: 'granted'; readonly input?: unknown }
  | { readonly kind: 'denied'; readonly reason: string };

export function newCallId(): string {
  return `call-${crypto.randomUUID()}`;
}

/** The id that was asked for, unless the turn has a call of that id already: nobody could tell the two apart. */
export function callId(turn: TurnRunner, wanted: string | undefined): string {
  const isTaken = wanted === undefined || findCall(turn.session.state, { turnId: turn.id, toolCallId: wanted });
  return isTaken ? newCallId() : wanted;
}

/** Shows that there is a call. */
export function startCall(turn: TurnRunner, { toolCallId, name, displayName, toolClientId }: Call): void {
  turn.interrupt();
  turn.write({
    type: 'session/toolCallStart',
    turnId: turn.id,
    toolCallId,
    toolName: name,
    displayName,
    ...(toolClientId && { toolClientId }),
  });
}

/** Its input is complete: it runs, or a person is asked first. Says whether one is. */
export function readyCall(turn: TurnRunner, call: Call): boolean {
  const { toolCallId, invocationMessage, toolInput, confirmation } = call;
  const ready = { type: 'session/toolCallReady' as const, turnId: turn.id, toolCallId, invocationMessage, toolInput };
  if (!confirmation || isAllowed(turn, call)) {
    turn.write({ ...ready, confirmed: confirmation ? 'setting' : 'not-needed' });
    return false;
  }
  const { title, editable, options, edits } = confirmation;
  turn.write({
    ...ready,
    confirmationTitle: title,
    ...(editable && { editable }),
    ...(options && { options }),
    ...(edits && { edits: { items: edits } }),
  });
  return true;
}

/** What a person allowed counts for the host's tool of that name, not for a client's. */
export function isAllowed(turn: TurnRunner, { name, toolClientId }: Call): boolean {
  const { allowedTools, state } = turn.session;
  return (toolClientId === undefined && allowedTools.has(name)) || state.config?.values.autoApprove === true;
}

/** Makes the call ready, and waits for a person where one must be asked. */
export async function permission(turn: TurnRunner, call: Call): Promise<Permit> {
  readyCall(turn, call);
  return answer(turn, call);
}

/** Asks once more while the call runs. It counts as running until the question is stored, so that is waited for first. */
export async function permissionAgain(turn: TurnRunner, call: Call): Promise<Permit> {
  if (!readyCall(turn, call)) return { kind: 'granted' };
  const target = { turnId: turn.id, toolCallId: call.toolCallId };
  await turn.waitFor((state) => {
    const status = findCall(state, target)?.status;
    return status === 'pending-confirmation' || status === 'cancelled' || undefined;
  });
  return answer(turn, call);
}

async function answer(turn: TurnRunner, call: Call): Promise<Permit> {
  const answered = await turn.waitFor((state) => {
    const found = findCall(state, { turnId: turn.id, toolCallId: call.toolCallId });
    return found && (found.status === 'running' || found.status === 'cancelled') ? found : undefined;
  });
  return permitOf(turn, call, answered);
}

function permitOf(turn: TurnRunner, call: Call, answered: ToolCallState): Permit {
  if (answered.status === 'cancelled') {
    const advice = answered.userSuggestion?.text;
    return { kind: 'denied', reason: advice ?? plain(answered.reasonMessage) ?? 'the person said no' };
  }
  if (answered.status !== 'running') return { kind: 'denied', reason: 'the call is over' };
  if (answered.selectedOption?.id === ALLOW_IN_SESSION) turn.session.allowedTools.add(call.name);
  return { kind: 'granted', input: parsedInput(answered.toolInput ?? call.toolInput) };
}

/** Ends the call, and waits until that is stored, or until a person has seen the result. */
export async function complete(turn: TurnRunner, call: Call, result: ToolCallResult): Promise<ToolOutcome> {
  turn.write({ type: 'session/toolCallComplete', turnId: turn.id, toolCallId: call.toolCallId, result });
  return outcomeOf(await turn.waitFor((state) => settledCall(turn, call, state)));
}

export function settledCall(turn: TurnRunner, { toolCallId }: Call, state: SessionState): ToolCallState | undefined {
  const call = findCall(state, { turnId: turn.id, toolCallId });
  return call?.status === 'completed' || call?.status === 'cancelled' ? call : undefined;
}

export function outcomeOf(call: ToolCallState): ToolOutcome {
  if (call.status !== 'completed') {
    const reason = call.status === 'cancelled' ? plain(call.reasonMessage) : undefined;
    return { kind: 'denied', reason: reason ?? 'the person said no' };
  }
  const { success, content = [], structuredContent, error } = call;
  const structured = structuredContent && JSON.stringify(structuredContent);
  return { kind: 'completed', success, text: textOf(content) || structured || (error?.message ?? ''), content };
}

function textOf(content: readonly ToolResultContent[]): string {
  return content.flatMap((block) => (block.type === 'text' ? block.text : [])).join('\n');
}

export function plain(text: string | { markdown: string } | undefined): string | undefined {
  return typeof text === 'object' ? text.markdown : text;
}

export function inputText(input: unknown): string {
  return typeof input === 'string' ? input : JSON.stringify(input ?? {});
}

/** Arguments as an object, from an object or from the JSON text that models and people write. */
export function parsedInput(input: unknown): unknown {
  if (typeof input !== 'string') return input;
  try {
    return JSON.parse(input);
  } catch {
    return { text: input };
  }
}
