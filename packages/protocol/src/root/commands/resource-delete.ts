import { type Static, Type } from 'typebox';
import { RootChannel } from '../../common/root-channel.js';
import { URI } from '../../common/uri.js';

export const ResourceDeleteParams = Type.Object(
  { channel: RootChannel, uri: URI, recursive: Type.Optional(Type.Boolean()) },
  { $id: 'ResourceDeleteParams', description: 'Deletes a resource; a folder with content only when `recursive`.' },
);
export type ResourceDeleteParams = Static<typeof ResourceDeleteParams>;

export const ResourceDeleteResult = Type.Object({}, { $id: 'ResourceDeleteResult', description: 'Deleted.' });
export type ResourceDeleteResult = Static<typeof ResourceDeleteResult>;
