import { type Static, Type } from 'typebox';

export const TerminalClientClaim = Type.Object(
  { kind: Type.Literal('client'), clientId: Type.String() },
  { $id: 'TerminalClientClaim', description: 'A client owns the terminal.' },
);
export type TerminalClientClaim = Static<typeof TerminalClientClaim>;
