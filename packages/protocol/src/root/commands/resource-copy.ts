import { type Static, Type } from 'typebox';
import { RootChannel } from '../../common/root-channel.js';
import { URI } from '../../common/uri.js';

export const ResourceCopyParams = Type.Object(
  { channel: RootChannel, source: URI, destination: URI, failIfExists: Type.Optional(Type.Boolean()) },
  { $id: 'ResourceCopyParams', description: 'Copies a resource.' },
);
export type ResourceCopyParams = Static<typeof ResourceCopyParams>;

export const ResourceCopyResult = Type.Object({}, { $id: 'ResourceCopyResult', description: 'Copied.' });
export type ResourceCopyResult = Static<typeof ResourceCopyResult>;
