import { type Static, Type } from 'typebox';
import { TerminalClaim } from '../state/terminal-claim.js';

export const TerminalClaimedAction = Type.Object(
  { type: Type.Literal('terminal/claimed'), claim: TerminalClaim },
  { $id: 'TerminalClaimedAction', description: 'The terminal has a new owner.' },
);
export type TerminalClaimedAction = Static<typeof TerminalClaimedAction>;
