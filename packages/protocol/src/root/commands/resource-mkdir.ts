import { type Static, Type } from 'typebox';
import { RootChannel } from '../../common/root-channel.js';
import { URI } from '../../common/uri.js';

export const ResourceMkdirParams = Type.Object(
  { channel: RootChannel, uri: URI },
  { $id: 'ResourceMkdirParams', description: 'Creates a directory and its missing parents.' },
);
export type ResourceMkdirParams = Static<typeof ResourceMkdirParams>;

export const ResourceMkdirResult = Type.Object(
  {},
  { $id: 'ResourceMkdirResult', description: 'Created, or already there.' },
);
export type ResourceMkdirResult = Static<typeof ResourceMkdirResult>;
