import { type Static, Type } from 'typebox';
import { TerminalClientClaim } from './terminal-client-claim.js';
import { TerminalSessionClaim } from './terminal-session-claim.js';

export const TerminalClaim = Type.Union([TerminalClientClaim, TerminalSessionClaim], {
  $id: 'TerminalClaim',
  description: 'Who owns a terminal. There is always exactly one owner.',
});
export type TerminalClaim = Static<typeof TerminalClaim>;
