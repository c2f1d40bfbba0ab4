/** Commands that create and end terminals. */
import { type Static, Type } from 'typebox';
import { URI } from '../common/types.js';
import { TerminalClaim } from './state.js';

export const CreateTerminalParams = Type.Object(
  {
    channel: URI,
    claim: TerminalClaim,
    name: Type.Optional(Type.String()),
    cwd: Type.Optional(URI),
    cols: Type.Optional(Type.Number()),
    rows: Type.Optional(Type.Number()),
  },
  { $id: 'CreateTerminalParams', description: 'Creates a terminal under a URI that the client chose.' },
);
export type CreateTerminalParams = Static<typeof CreateTerminalParams>;

export const CreateTerminalResult = Type.Null({ $id: 'CreateTerminalResult', description: 'Nothing.' });
export type CreateTerminalResult = Static<typeof CreateTerminalResult>;

export const DisposeTerminalParams = Type.Object(
  { channel: URI },
  { $id: 'DisposeTerminalParams', description: 'Ends a terminal and its process.' },
);
export type DisposeTerminalParams = Static<typeof DisposeTerminalParams>;

export const DisposeTerminalResult = Type.Null({ $id: 'DisposeTerminalResult', description: 'Nothing.' });
export type DisposeTerminalResult = Static<typeof DisposeTerminalResult>;
