import { type Static, Type } from 'typebox';
import { RootChannel } from '../../common/root-channel.js';
import { URI } from '../../common/uri.js';

export const ResourceMoveParams = Type.Object(
  { channel: RootChannel, source: URI, destination: URI, failIfExists: Type.Optional(Type.Boolean()) },
  { $id: 'ResourceMoveParams', description: 'Moves or renames a resource.' },
);
export type ResourceMoveParams = Static<typeof ResourceMoveParams>;

export const ResourceMoveResult = Type.Object({}, { $id: 'ResourceMoveResult', description: 'Moved.' });
export type ResourceMoveResult = Static<typeof ResourceMoveResult>;
