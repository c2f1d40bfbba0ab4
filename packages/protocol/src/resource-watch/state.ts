/** The state of a watch, and the changes that it reports. */
import { type Static, Type } from 'typebox';
import { URI } from '../common/types.js';
import { Choice } from '../schema/define.js';

export const WatchFilter = Type.Object(
  { items: Type.Array(Type.String()) },
  { $id: 'WatchFilter', description: 'Globs or paths relative to the watched root.' },
);
export type WatchFilter = Static<typeof WatchFilter>;

export const ResourceWatchState = Type.Object(
  { root: URI, recursive: Type.Boolean(), excludes: Type.Optional(WatchFilter), includes: Type.Optional(WatchFilter) },
  { $id: 'ResourceWatchState', description: 'What is watched. It never changes after the watch was opened.' },
);
export type ResourceWatchState = Static<typeof ResourceWatchState>;

export const ResourceChangeType = Choice(['added', 'updated', 'deleted'], {
  $id: 'ResourceChangeType',
  description: 'What happened to a resource.',
});
export type ResourceChangeType = Static<typeof ResourceChangeType>;

export const ResourceChange = Type.Object(
  { uri: URI, type: ResourceChangeType },
  { $id: 'ResourceChange', description: 'One changed resource.' },
);
export type ResourceChange = Static<typeof ResourceChange>;

export const ResourceChangeList = Type.Object(
  { items: Type.Array(ResourceChange) },
  { $id: 'ResourceChangeList', description: 'A batch of changes; never empty on the wire.' },
);
export type ResourceChangeList = Static<typeof ResourceChangeList>;
