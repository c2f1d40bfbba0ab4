import { type Static, Type } from 'typebox';
import { RootChannel } from '../../common/root-channel.js';
import { URI } from '../../common/uri.js';
import { ContentEncoding } from './content-encoding.js';

export const ResourceReadParams = Type.Object(
  { channel: RootChannel, uri: URI, encoding: Type.Optional(ContentEncoding) },
  { $id: 'ResourceReadParams', description: 'Reads a file, or content kept by reference.' },
);
export type ResourceReadParams = Static<typeof ResourceReadParams>;

export const ResourceReadResult = Type.Object(
  {
    data: Type.String({ description: 'The content, written as `encoding` says.' }),
    encoding: ContentEncoding,
    contentType: Type.Optional(Type.String()),
  },
  { $id: 'ResourceReadResult', description: 'The content.' },
);
export type ResourceReadResult = Static<typeof ResourceReadResult>;
