/** Commands on files and other content. Either side may send them. */
import { type Static, Type } from 'typebox';
import { RootChannel, URI } from '../common/types.js';
import { Choice } from '../schema/define.js';

export const ContentEncoding = Choice(['base64', 'utf-8'], {
  $id: 'ContentEncoding',
  description: 'How content is written in JSON; binary is always base64.',
});
export type ContentEncoding = Static<typeof ContentEncoding>;

export const ResourceReadParams = Type.Object(
  { channel: RootChannel, uri: URI, encoding: Type.Optional(ContentEncoding) },
  { $id: 'ResourceReadParams', description: 'Reads a file, or content that a reference names.' },
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

export const ResourceWriteMode = Choice(['truncate', 'append', 'insert'], {
  $id: 'ResourceWriteMode',
  description: 'Where the bytes go, relative to `position`.',
});
export type ResourceWriteMode = Static<typeof ResourceWriteMode>;

export const ResourceWriteParams = Type.Object(
  {
    channel: RootChannel,
    uri: URI,
    data: Type.String({ description: 'The content, written as `encoding` says.' }),
    encoding: ContentEncoding,
    contentType: Type.Optional(Type.String()),
    createOnly: Type.Optional(Type.Boolean({ description: 'Whether to fail when the file exists.' })),
    mode: Type.Optional(ResourceWriteMode),
    position: Type.Optional(Type.Number({ description: 'In bytes, from the start; from the end when appending.' })),
    ifMatch: Type.Optional(Type.String({ description: 'The `etag` that the file must still have.' })),
  },
  { $id: 'ResourceWriteParams', description: 'Writes a file: replaces it, truncates it, appends or inserts.' },
);
export type ResourceWriteParams = Static<typeof ResourceWriteParams>;

export const ResourceWriteResult = Type.Object({}, { $id: 'ResourceWriteResult', description: 'Written.' });
export type ResourceWriteResult = Static<typeof ResourceWriteResult>;

export const ResourceListParams = Type.Object(
  { channel: RootChannel, uri: URI },
  { $id: 'ResourceListParams', description: 'Lists a directory.' },
);
export type ResourceListParams = Static<typeof ResourceListParams>;

export const DirectoryEntry = Type.Object(
  { name: Type.String(), type: Choice(['file', 'directory'], { description: 'What it is.' }) },
  { $id: 'DirectoryEntry', description: 'A direct child. A symbolic link has the type of its target.' },
);
export type DirectoryEntry = Static<typeof DirectoryEntry>;

export const ResourceListResult = Type.Object(
  { entries: Type.Array(DirectoryEntry) },
  { $id: 'ResourceListResult', description: 'The children.' },
);
export type ResourceListResult = Static<typeof ResourceListResult>;

export const ResourceCopyParams = Type.Object(
  { channel: RootChannel, source: URI, destination: URI, failIfExists: Type.Optional(Type.Boolean()) },
  { $id: 'ResourceCopyParams', description: 'Copies a resource.' },
);
export type ResourceCopyParams = Static<typeof ResourceCopyParams>;

export const ResourceCopyResult = Type.Object({}, { $id: 'ResourceCopyResult', description: 'Copied.' });
export type ResourceCopyResult = Static<typeof ResourceCopyResult>;

export const ResourceDeleteParams = Type.Object(
  { channel: RootChannel, uri: URI, recursive: Type.Optional(Type.Boolean()) },
  { $id: 'ResourceDeleteParams', description: 'Deletes a resource; a folder that is not empty only when `recursive`.' },
);
export type ResourceDeleteParams = Static<typeof ResourceDeleteParams>;

export const ResourceDeleteResult = Type.Object({}, { $id: 'ResourceDeleteResult', description: 'Deleted.' });
export type ResourceDeleteResult = Static<typeof ResourceDeleteResult>;

export const ResourceMoveParams = Type.Object(
  { channel: RootChannel, source: URI, destination: URI, failIfExists: Type.Optional(Type.Boolean()) },
  { $id: 'ResourceMoveParams', description: 'Moves or renames a resource.' },
);
export type ResourceMoveParams = Static<typeof ResourceMoveParams>;

export const ResourceMoveResult = Type.Object({}, { $id: 'ResourceMoveResult', description: 'Moved.' });
export type ResourceMoveResult = Static<typeof ResourceMoveResult>;

export const ResourceResolveParams = Type.Object(
  {
    channel: RootChannel,
    uri: URI,
    followSymlinks: Type.Optional(
      Type.Boolean({ description: 'Whether to follow a symbolic link; true when absent.' }),
    ),
  },
  {
    $id: 'ResourceResolveParams',
    description: 'Asks for metadata and the canonical URI; also tells whether a resource exists.',
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
    ctime: Type.Optional(Type.String({ description: 'When it was created.' })),
    contentType: Type.Optional(Type.String()),
    etag: Type.Optional(Type.String({ description: 'Identifies this version of the content, for `ifMatch`.' })),
  },
  { $id: 'ResourceResolveResult', description: 'The metadata; times are ISO 8601.' },
);
export type ResourceResolveResult = Static<typeof ResourceResolveResult>;

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

export const ResourceRequestParams = Type.Object(
  {
    channel: RootChannel,
    uri: URI,
    read: Type.Optional(Type.Boolean({ description: 'Whether read access is wanted.' })),
    write: Type.Optional(Type.Boolean({ description: 'Whether write access is wanted.' })),
  },
  { $id: 'ResourceRequestParams', description: 'Asks for access to a resource.' },
);
export type ResourceRequestParams = Static<typeof ResourceRequestParams>;

export const ResourceRequestResult = Type.Object({}, { $id: 'ResourceRequestResult', description: 'Granted.' });
export type ResourceRequestResult = Static<typeof ResourceRequestResult>;
