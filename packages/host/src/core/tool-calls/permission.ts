/** Whether a call may run, as far as people decide that: now, for this session, or by a setting. */
import type { Permit } from '../contracts/agent.js';
import type { GateCall } from '../contracts/extension.js';
import { ALLOW_IN_SESSION } from '../contracts/tool.js';
import type { TurnRunner } from '../sessions/turn.js';
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
  readyCall(turn, call);
  const permit = await answer(turn, call);
  if (permit.kind === 'denied') return permit;
  const { option } = permit;
  const chosen = option !== undefined && { option };
  if (permit.input === undefined) return { kind: 'granted', input: asked.input, notes: [], ...chosen };
  const changed: Call = { ...call, toolInput: String(permit.input) };
  const read = readArguments(permit.input, call.inputSchema);
  if ('problem' in read) return deny(turn, changed, read.problem);
  // A gate that wants a person to look has that already: one has just written this.
  const again = await passGates(turn, changed, { ...asked, input: read.value });
  if (again.kind === 'denied') return deny(turn, changed, again.reason);
  return { kind: 'granted', input: read.value, notes: again.notes, ...chosen };
}

/** Its input is complete: it runs, or a person is asked first. */
export function readyCall(turn: TurnRunner, call: Call): void {
  const { toolCallId, invocationMessage, toolInput, confirmation } = call;
  const ready = { type: 'session/toolCallReady' as const, turnId: turn.id, toolCallId, invocationMessage, toolInput };
  if (!confirmation || isAllowed(turn, call)) {
    turn.write({ ...ready, confirmed: confirmation ? 'setting' : 'not-needed' });
    return;
  }
  const { title, editable, options, edits } = confirmation;
  turn.write({
    ...ready,
    confirmationTitle: title,
    ...(editable && { editable }),
    ...(options && { options }),
    ...(edits && { edits: { items: edits } }),
  });
}

/** What a person allowed counts for the tool of one owner, and not for a client's. */
export function isAllowed(turn: TurnRunner, call: Call): boolean {
  if (call.isAskedAnyway) return false;
  const { allowances, state } = turn.session;
  const isAllowedForGood = call.toolClientId === undefined && allowances.has(call);
  return isAllowedForGood || state.config?.values.autoApprove === true;
}

async function answer(turn: TurnRunner, call: Call): Promise<Permit> {
  const answered = await turn.waitFor([call.toolCallId], (state) => {
    const found = turn.call(call.toolCallId, state);
    return found && found.status !== 'streaming' && found.status !== 'pending-confirmation' ? found : undefined;
  });
  const chosen = 'selectedOption' in answered && answered.selectedOption && { option: answered.selectedOption.id };
  if (answered.status !== 'running') return { kind: 'denied', reason: reasonOf(answered), ...chosen };
  if (answered.selectedOption?.id === ALLOW_IN_SESSION) turn.session.allowances.add(call);
  const isChanged = answered.toolInput !== undefined && answered.toolInput !== call.toolInput;
  return { kind: 'granted', ...(isChanged && { input: answered.toolInput }), ...chosen };
}
