/** Copilot asks before most calls, reads in the session's folder included. Those alone are answered without a person. */

import type { OwnCall } from '../../core/contracts/agent.js';
import { ALLOW_IN_SESSION, type ToolConfirmation } from '../../core/contracts/tool.js';
import { resolveInside } from '../../core/util/paths.js';
import type { PermissionDecision, PermissionRequest } from './sdk.js';
import { questionFor } from './words.js';

export interface AskingCall {
  readonly call: OwnCall;
  readonly displayName: string;
  /** The question that a person said yes to. */
  agreed?: string;
}

const APPROVED: PermissionDecision = { kind: 'approve-once' };

export function rejected(feedback: string): PermissionDecision {
  return { kind: 'reject', feedback };
}

/** The host's own tools read in the folder without asking; so do Copilot's. By real paths: no link leads out. */
export async function decide(
  request: PermissionRequest,
  asking: AskingCall,
  folder: string | undefined,
): Promise<PermissionDecision> {
  if (await readsInside(request, folder)) return APPROVED;
  const question = questionFor(request);
  // One call may ask several times, for the same or, after a redirect, for something else. People answer once.
  if (asking.agreed !== undefined) return asking.agreed === question ? APPROVED : rejected(notAgreed(asking.agreed));
  const permit = await asking.call.confirm(confirmationOf(question, asking.displayName));
  if (permit.kind === 'denied') return rejected(permit.reason);
  asking.agreed = question;
  return APPROVED;
}

function confirmationOf(title: string, displayName: string): ToolConfirmation {
  return {
    title,
    options: [
      { id: 'approve', label: 'Allow', kind: 'approve' },
      { id: ALLOW_IN_SESSION, label: `Allow, and do not ask about ${displayName} again here`, kind: 'approve' },
      { id: 'deny', label: 'Do not allow', kind: 'deny' },
    ],
  };
}

function notAgreed(agreed: string): string {
  return `The person was asked "${agreed}" and agreed to that only. Make this a call of its own.`;
}

async function readsInside({ kind, path }: PermissionRequest, folder: string | undefined): Promise<boolean> {
  if (kind !== 'read' || path === undefined || folder === undefined) return false;
  return resolveInside(folder, path).then(
    () => true,
    () => false,
  );
}
