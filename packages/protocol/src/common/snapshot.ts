import { type Static, Type } from 'typebox';
import { ChangesetState } from '../changeset/state/changeset-state.js';
import { ResourceWatchState } from '../resource-watch/state/resource-watch-state.js';
import { RootState } from '../root/state/root-state.js';
import { Seq } from '../schema/define.js';
import { SessionState } from '../session/state/session-state.js';
import { TerminalState } from '../terminal/state/terminal-state.js';
import { URI } from './uri.js';

export const Snapshot = Type.Object(
  {
    resource: URI,
    state: Type.Union([RootState, SessionState, TerminalState, ChangesetState, ResourceWatchState], {
      description: 'The state, of the kind that the URI names.',
    }),
    fromSeq: Seq,
  },
  {
    $id: 'Snapshot',
    description: 'The state of a channel at one point of the sequence; later actions have a greater number.',
  },
);
export type Snapshot = Static<typeof Snapshot>;
