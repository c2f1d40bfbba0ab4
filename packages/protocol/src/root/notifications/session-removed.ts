import { type Static, Type } from 'typebox';
import { RootChannel } from '../../common/root-channel.js';
import { URI } from '../../common/uri.js';

export const SessionRemovedParams = Type.Object(
  { channel: RootChannel, session: URI },
  { $id: 'SessionRemovedParams', description: 'A session was disposed.' },
);
export type SessionRemovedParams = Static<typeof SessionRemovedParams>;
