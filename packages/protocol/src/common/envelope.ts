/** An action in its place in the sequence, and the state of a channel at one point of it. */
import { type Static, Type } from 'typebox';
import { StateAction } from '../actions.js';
import { ChangesetState } from '../changeset/state.js';
import { ResourceWatchState } from '../resource-watch/state.js';
import { RootState } from '../root/state.js';
import { Seq } from '../schema/define.js';
import { SessionState } from '../session/state.js';
import { TerminalState } from '../terminal/state.js';
import { URI } from './types.js';

export const ActionOrigin = Type.Object(
  { clientId: Type.String(), clientSeq: Seq },
  { $id: 'ActionOrigin', description: 'The client that dispatched an action, and its number there.' },
);
export type ActionOrigin = Static<typeof ActionOrigin>;

export const ActionEnvelope = Type.Object(
  {
    channel: URI,
    action: StateAction,
    serverSeq: Seq,
    origin: Type.Optional(ActionOrigin),
    rejectionReason: Type.Optional(
      Type.String({
        description:
          'Why the host refused the action. Only the client that dispatched it gets this; the state has not changed.',
      }),
    ),
  },
  {
    $id: 'ActionEnvelope',
    description: "An action with its number in the host's sequence. One with a `rejectionReason` must not be reduced.",
  },
);
export type ActionEnvelope = Static<typeof ActionEnvelope>;

export const Snapshot = Type.Object(
  {
    resource: URI,
    state: Type.Union([RootState, SessionState, TerminalState, ChangesetState, ResourceWatchState], {
      description: 'The state; the scheme of the URI says of which kind.',
    }),
    fromSeq: Seq,
  },
  {
    $id: 'Snapshot',
    description: 'The state of a channel at one point of the sequence; later actions have a greater number.',
  },
);
export type Snapshot = Static<typeof Snapshot>;
