/** The command that opens a watch. */
import { type Static, Type } from 'typebox';
import { RootChannel, URI } from '../common/types.js';
import { WatchFilter } from './state.js';

export const CreateResourceWatchParams = Type.Object(
  {
    channel: RootChannel,
    uri: URI,
    recursive: Type.Optional(Type.Boolean()),
    excludes: Type.Optional(WatchFilter),
    includes: Type.Optional(WatchFilter),
  },
  {
    $id: 'CreateResourceWatchParams',
    description: 'Opens a watch. Events flow while its channel has a subscriber.',
  },
);
export type CreateResourceWatchParams = Static<typeof CreateResourceWatchParams>;

export const CreateResourceWatchResult = Type.Object(
  { channel: URI },
  { $id: 'CreateResourceWatchResult', description: 'The channel of the watch, chosen by the receiver.' },
);
export type CreateResourceWatchResult = Static<typeof CreateResourceWatchResult>;
