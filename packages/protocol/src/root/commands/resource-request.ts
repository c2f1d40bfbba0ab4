import { type Static, Type } from 'typebox';
import { RootChannel } from '../../common/root-channel.js';
import { URI } from '../../common/uri.js';

export const ResourceRequestParams = Type.Object(
  {
    channel: RootChannel,
    uri: URI,
    read: Type.Optional(Type.Boolean({ description: 'Whether to read.' })),
    write: Type.Optional(Type.Boolean({ description: 'Whether to write.' })),
  },
  { $id: 'ResourceRequestParams', description: 'Asks for access to a resource.' },
);
export type ResourceRequestParams = Static<typeof ResourceRequestParams>;

export const ResourceRequestResult = Type.Object({}, { $id: 'ResourceRequestResult', description: 'Granted.' });
export type ResourceRequestResult = Static<typeof ResourceRequestResult>;
