import { type Static, Type } from 'typebox';
import { RootChannel } from '../../common/root-channel.js';
import { URI } from '../../common/uri.js';
import { Choice } from '../../schema/define.js';

export const ResourceResolveParams = Type.Object(
  { channel: RootChannel, uri: URI, followSymlinks: Type.Optional(Type.Boolean()) },
  {
    $id: 'ResourceResolveParams',
    description: 'Asks for metadata and the canonical address; the way to test for existence.',
  },
);
export type ResourceResolveParams = Static<typeof ResourceResolveParams>;

export const ResourceType = Choice(['file', 'directory', 'symlink'], {
  $id: 'ResourceType',
  description: 'What a resource is.',
});
export type ResourceType = Static<typeof ResourceType>;

export const ResourceResolveResult = Type.Object(
  {
    uri: URI,
    type: ResourceType,
    size: Type.Optional(Type.Number()),
    mtime: Type.Optional(Type.String()),
    ctime: Type.Optional(Type.String()),
    contentType: Type.Optional(Type.String()),
    etag: Type.Optional(Type.String()),
  },
  { $id: 'ResourceResolveResult', description: 'What was found; times are ISO 8601 text.' },
);
export type ResourceResolveResult = Static<typeof ResourceResolveResult>;
