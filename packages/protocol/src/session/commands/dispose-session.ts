import { type Static, Type } from 'typebox';
import { URI } from '../../common/uri.js';

export const DisposeSessionParams = Type.Object(
  { channel: URI },
  { $id: 'DisposeSessionParams', description: 'Ends a session.' },
);
export type DisposeSessionParams = Static<typeof DisposeSessionParams>;

export const DisposeSessionResult = Type.Null({ $id: 'DisposeSessionResult', description: 'Nothing.' });
export type DisposeSessionResult = Static<typeof DisposeSessionResult>;
