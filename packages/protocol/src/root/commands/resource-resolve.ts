import { type Static, Type } from 'typebox';
import { RootChannel } from '../../common/root-channel.js';
import { URI } from '../../common/uri.js';
import { Choice } from '../../schema/define.js';

export const ResourceResolveParams = Type.Object(
  {
    channel: RootChannel,
    uri: URI,
    followSymlinks: Type.Optional(
      Type.Boolean({ description: 'Whether a link is followed to what it names; yes, if absent.' }),
    ),
  },
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
    size: Type.Optional(Type.Number({ description: 'In bytes.' })),
    mtime: Type.Optional(Type.String({ description: 'When its content last changed.' })),
    ctime: Type.Optional(Type.String({ description: 'When it was made.' })),
    contentType: Type.Optional(Type.String()),
    etag: Type.Optional(
      Type.String({ description: 'Stands for this version of the content; only useful as `ifMatch`.' }),
    ),
  },
  { $id: 'ResourceResolveResult', description: 'What was found; times are ISO 8601 text.' },
);
export type ResourceResolveResult = Static<typeof ResourceResolveResult>;
