/** An agent's question whether a call may run: its own buttons for people, and their choice for the agent. */
import type { PermissionOption, RequestPermissionOutcome } from '@agentclientprotocol/sdk';
import type { ConfirmationOption } from '@atrium/protocol';
import type { Permit } from '../../core/contracts/agent.js';

export const CANCELLED: RequestPermissionOutcome = { outcome: 'cancelled' };

export function confirmationOptions(options: readonly PermissionOption[]): ConfirmationOption[] {
  return options.map(({ optionId, name, kind }) => ({
    id: optionId,
    label: name,
    kind: kind.startsWith('allow') ? 'approve' : 'deny',
  }));
}

/** Without a permit, the host asks by itself later: the agent may go on this once. */
export function outcomeOf(permit: Permit | undefined, options: readonly PermissionOption[]): RequestPermissionOutcome {
  const wanted = permit === undefined || permit.kind === 'granted' ? 'allow' : 'reject';
  const chosen = options.find(({ optionId, kind }) => optionId === permit?.option && kind.startsWith(wanted));
  // What counts for ever is for people to choose, unless the agent knows nothing else to do when it is allowed.
  const usual = options.find(({ kind }) => kind === `${wanted}_once`);
  const last = wanted === 'allow' ? options.find(({ kind }) => kind === 'allow_always') : undefined;
  const option = chosen ?? usual ?? last;
  return option ? { outcome: 'selected', optionId: option.optionId } : CANCELLED;
}
