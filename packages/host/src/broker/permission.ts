/** Whether a call may run, as far as people decide that: now, for this session, or by a setting. */
import type { Permit } from '../agents/agent.js';
import type { GateCall } from '../extensions/extension.js';
import { findCall } from '../sessions/rules/tool-calls.js';
import type { TurnRunner } from '../sessions/turn.js';
import { ALLOW_IN_SESSION } from '../tools/tool.js';
import { readArguments } from './arguments.js';
import { type Call, deny, reasonOf } from './call-steps.js';
import { type Clearance, passGates } from './gates.js';

export type Passage =
  | { readonly kind: 'granted'; readonly input: unknown; readonly notes: readonly string[]; readonly option?: string }
  | Extract<Permit, { kind: 'denied' }>;

/** A gate wants a person to decide, also where the tool itself would not ask or somebody allowed it for good. */
export function askedBy(call: Call, { ask }: Extract<Clearance, { kind: 'cleared' }>): Call {
  return ask === undefined
    ? call
    : { ...call, isAskedAnyway: true, confirmation: { ...call.confirmation, title: ask } };
}

/** Makes the call ready, and waits for a person where one must be asked. What they changed is new to the gates. */
export async function passPerson(turn: TurnRunner, call: Call, asked: GateCall): Promise<Passage> {
  const permit = await permission(turn, call);
  if (permit.kind === 'denied') return permit;
  const { option } = permit;
  const chosen = option !== undefined && { option };
  if (permit.input === undefined) return { kind: 'granted', input: asked.input, notes: [], ...chosen };
  const changed: Call = { ...call, toolInput: String(permit.input) };
  const read = readArguments(permit.input);
  if ('problem' in read) return deny(turn, changed, read.problem);
  // A gate that wants a person to look has that already: one has just written this.
  const again = await passGates(turn, changed, { ...asked, input: read.value });
  if (again.kind === 'denied') return deny(turn, changed, again.reason);
  return { kind: 'granted', input: read.value, notes: again.notes, ...chosen };
}

/** Makes the call ready, and waits for a person where one must be asked. */
async function permission(turn: TurnRunner, call: Call): Promise<Permit> {
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
  if (call.isAskedAnyway) return false;
  const { allowances, state } = turn.session;
  const isAllowedForGood = call.toolClientId === undefined && allowances.has(call);
  return isAllowedForGood || state.config?.values.autoApprove === true;
}

async function answer(turn: TurnRunner, call: Call): Promise<Permit> {
  const answered = await turn.waitFor((state) => {
    const found = findCall(state, { turnId: turn.id, toolCallId: call.toolCallId });
    return found && found.status !== 'streaming' && found.status !== 'pending-confirmation' ? found : undefined;
  });
  const chosen = 'selectedOption' in answered && answered.selectedOption && { option: answered.selectedOption.id };
  if (answered.status !== 'running') return { kind: 'denied', reason: reasonOf(answered), ...chosen };
  if (answered.selectedOption?.id === ALLOW_IN_SESSION) turn.session.allowances.add(call);
  const isChanged = answered.toolInput !== undefined && answered.toolInput !== call.toolInput;
  return { kind: 'granted', ...(isChanged && { input: answered.toolInput }), ...chosen };
}
