/** Who owns a terminal, and who may change that. There is always exactly one owner. */
import type { TerminalClaim, TerminalSessionClaim } from '@atrium/protocol';
import { CLIENT_ID_MAX_CHARACTERS } from '../../core/limits.js';

/** The claim of a tool that is using the terminal right now. */
export type CallClaim = TerminalSessionClaim & { readonly turnId: string; readonly toolCallId: string };

export function isOfCall(claim: TerminalClaim): claim is CallClaim {
  return claim.kind === 'session' && claim.toolCallId !== undefined && claim.turnId !== undefined;
}

export function isOfSession(claim: TerminalClaim, session: string): boolean {
  return claim.kind === 'session' && claim.session === session;
}

/** The same session, without the call that is over. */
export function inBackground({ session }: TerminalSessionClaim): TerminalSessionClaim {
  return { kind: 'session', session };
}

export interface ClaimChange {
  readonly from: TerminalClaim;
  readonly to: TerminalClaim;
  readonly clientId: string;
  readonly isSession: (uri: string) => boolean;
  /** Whether a client is connected. */
  readonly isHere: (clientId: string) => boolean;
}

/** Why a client may not change the claim like this; undefined when it may. */
export function claimRefusal({ from, to, clientId, isSession, isHere }: ClaimChange): string | undefined {
  if (from.kind === 'client' && from.clientId === clientId) return unfit(to, isSession);
  if (from.kind === 'client' && isHere(from.clientId)) return `the terminal belongs to the client ${from.clientId}`;
  // A client that crashed cannot hand its terminal over.
  if (to.kind === 'client' && to.clientId !== clientId) return 'take the terminal for yourself, or leave it';
  if (from.kind === 'session' && to.kind === 'session' && to.session !== from.session)
    return `the terminal belongs to the session ${from.session}`;
  return unfit(to, isSession);
}

/** What no client can claim, whoever owned the terminal before. */
export function unfit(claim: TerminalClaim, isSession: (uri: string) => boolean): string | undefined {
  if (claim.kind === 'client')
    return claim.clientId.length > CLIENT_ID_MAX_CHARACTERS ? 'the id is too long' : undefined;
  const { session, turnId, toolCallId } = claim;
  if (turnId !== undefined || toolCallId !== undefined) return 'only the host uses a terminal for a call of a tool';
  return isSession(session) ? undefined : `there is no session ${session}`;
}
