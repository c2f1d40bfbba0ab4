import { type Static, Type } from 'typebox';
import { URI } from '../../common/uri.js';

export const DisposeTerminalParams = Type.Object(
  { channel: URI },
  { $id: 'DisposeTerminalParams', description: 'Ends a terminal and its process.' },
);
export type DisposeTerminalParams = Static<typeof DisposeTerminalParams>;

export const DisposeTerminalResult = Type.Null({ $id: 'DisposeTerminalResult', description: 'Nothing.' });
export type DisposeTerminalResult = Static<typeof DisposeTerminalResult>;
