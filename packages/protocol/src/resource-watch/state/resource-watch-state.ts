import { type Static, Type } from 'typebox';
import { URI } from '../../common/uri.js';
import { WatchFilter } from './watch-filter.js';

export const ResourceWatchState = Type.Object(
  { root: URI, recursive: Type.Boolean(), excludes: Type.Optional(WatchFilter), includes: Type.Optional(WatchFilter) },
  { $id: 'ResourceWatchState', description: 'What is being watched; never changes after the watch was opened.' },
);
export type ResourceWatchState = Static<typeof ResourceWatchState>;
