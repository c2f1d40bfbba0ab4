import { type Static, Type } from 'typebox';
import { URI } from '../../common/uri.js';

export const TerminalSessionClaim = Type.Object(
  {
    kind: Type.Literal('session'),
    session: URI,
    turnId: Type.Optional(Type.String()),
    toolCallId: Type.Optional(Type.String()),
  },
  {
    $id: 'TerminalSessionClaim',
    description: 'A session owns the terminal; with turn and call, a tool is using it now.',
  },
);
export type TerminalSessionClaim = Static<typeof TerminalSessionClaim>;
