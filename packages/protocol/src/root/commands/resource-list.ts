import { type Static, Type } from 'typebox';
import { RootChannel } from '../../common/root-channel.js';
import { URI } from '../../common/uri.js';
import { Choice } from '../../schema/define.js';

export const ResourceListParams = Type.Object(
  { channel: RootChannel, uri: URI },
  { $id: 'ResourceListParams', description: 'Lists a directory.' },
);
export type ResourceListParams = Static<typeof ResourceListParams>;

export const DirectoryEntry = Type.Object(
  { name: Type.String(), type: Choice(['file', 'directory'], { description: 'What it is.' }) },
  { $id: 'DirectoryEntry', description: 'A direct child; a link is listed as the kind of its target.' },
);
export type DirectoryEntry = Static<typeof DirectoryEntry>;

export const ResourceListResult = Type.Object(
  { entries: Type.Array(DirectoryEntry) },
  { $id: 'ResourceListResult', description: 'The children.' },
);
export type ResourceListResult = Static<typeof ResourceListResult>;
