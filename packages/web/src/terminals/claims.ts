/** Who has a terminal, in words, and what can be done about it. */
import type { TerminalClaim } from '@atrium/protocol';

export function isMine(claim: TerminalClaim, clientId: string): boolean {
  return claim.kind === 'client' && claim.clientId === clientId;
}

/** A tool is using it right now. */
export function isOfCall(claim: TerminalClaim): boolean {
  return claim.kind === 'session' && claim.toolCallId !== undefined;
}

export function ownerWords(claim: TerminalClaim, clientId: string, session: string): string {
  if (claim.kind === 'client') return isMine(claim, clientId) ? 'yours' : 'opened on another device';
  const whose = claim.session === session ? 'this session' : 'another session';
  return isOfCall(claim) ? `${whose} uses it for a command` : `of ${whose}`;
}
