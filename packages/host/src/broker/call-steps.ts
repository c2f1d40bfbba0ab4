/** The steps that every tool call goes through in the state: started, ready, perhaps confirmed, completed. */
import type { SessionState, ToolCallResult, ToolCallState, ToolResultContent } from '@atrium/protocol';
import type { Permit, ToolOutcome } from '../agents/agent.js';
import type { GateCall } from '../extensions/extension.js';
import { findCall } from '../sessions/rules/tool-calls.js';
import type { TurnRunner } from '../sessions/turn.js';
import { ALLOW_IN_SESSION, type ToolConfirmation } from '../tools/tool.js';

export interface Call {
  readonly toolCallId: string;
  /** As its owner knows it. */
  readonly name: string;
  readonly displayName: string;
  readonly invocationMessage: string;
  readonly toolInput: string;
  readonly toolClientId?: string;
  /** The extension whose tool it is. */
  readonly owner?: string | undefined;
  readonly confirmation?: ToolConfirmation | undefined;
  /** A person is asked even where the tool was allowed for good. */
  readonly isAskedAnyway?: boolean;
}

export function newCallId(): string {
  return `call-${crypto.randomUUID()}`;
}

/** The id that was asked for, unless the turn has a call of that id already: nobody could tell the two apart. */
export function callId(turn: TurnRunner, wanted: string | undefined): string {
  const isTaken = wanted === undefined || findCall(turn.session.state, { turnId: turn.id, toolCallId: wanted });
  return isTaken ? newCallId() : wanted;
}

export interface StartedCall extends Pick<Call, 'toolCallId' | 'name' | 'displayName' | 'toolClientId'> {
  readonly meta?: Readonly<Record<string, unknown>>;
}

/** Shows that there is a call. */
export function startCall(turn: TurnRunner, { toolCallId, name, displayName, toolClientId, meta }: StartedCall): void {
  turn.interrupt();
  turn.write({
    type: 'session/toolCallStart',
    turnId: turn.id,
    toolCallId,
    toolName: name,
    displayName,
    ...(toolClientId && { toolClientId }),
    ...(meta && { _meta: { ...meta } }),
  });
}

/** As gates see it. */
export function gateCallOf(turn: TurnRunner, { toolCallId, name, owner }: Call, input: unknown): GateCall {
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
export function waitingFor(turn: TurnRunner, { toolCallId }: Call, names: readonly string[]): void {
  if (findCall(turn.session.state, { turnId: turn.id, toolCallId })?.status !== 'streaming') return;
  const invocationMessage = `Waiting for ${[...new Set(names)].join(', ')}`;
  turn.write({ type: 'session/toolCallDelta', turnId: turn.id, toolCallId, content: '', invocationMessage });
}

/** Ends a call that never ran, in one tick: the state knows no shorter way from streaming to denied. */
export async function deny(turn: TurnRunner, call: Call, reason: string): Promise<Extract<Permit, { kind: 'denied' }>> {
  const target = { turnId: turn.id, toolCallId: call.toolCallId };
  const { invocationMessage, toolInput } = call;
  if (findCall(turn.session.state, target)?.status === 'streaming') {
    turn.write({ type: 'session/toolCallReady', ...target, invocationMessage, toolInput });
    const denial = { approved: false, reason: 'denied', reasonMessage: reason } as const;
    turn.write({ type: 'session/toolCallConfirmed', ...target, ...denial });
  }
  await turn.waitFor((state) => settledCall(turn, call, state));
  return { kind: 'denied', reason };
}

/** Ends a call that a person had let through: what they wrote into it is refused. */
export async function refuseRunning(turn: TurnRunner, call: Call, reason: string): Promise<ToolOutcome> {
  const error = { message: reason, code: 'DENIED' };
  await complete(turn, call, { success: false, pastTenseMessage: `Blocked ${call.displayName}`, error });
  return { kind: 'denied', reason };
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

/** What a person allowed counts for the tool of one owner, and not for a client's. */
export function isAllowed(turn: TurnRunner, call: Call): boolean {
  const { allowedTools, state } = turn.session;
  if (call.isAskedAnyway) return false;
  const isAllowedForGood = call.toolClientId === undefined && allowedTools.has(allowanceOf(call));
  return isAllowedForGood || state.config?.values.autoApprove === true;
}

function allowanceOf({ owner, name }: Call): string {
  return owner === undefined ? name : `${owner}/${name}`;
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
  if (answered.selectedOption?.id === ALLOW_IN_SESSION) turn.session.allowedTools.add(allowanceOf(call));
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
