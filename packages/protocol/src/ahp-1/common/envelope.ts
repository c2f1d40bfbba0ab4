/** An action in its place in the sequence, and the state of a channel at one point of it. */
import { type Static, Type } from 'typebox';
import { ActionOrigin } from '../../common/envelope.js';
import { Seq } from '../../schema/define.js';
import { StateAction } from '../actions.js';
import { channelStates } from '../states.js';
import { URI } from './types.js';

export { ActionOrigin };

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
    state: Type.Union(Object.values(channelStates), {
      description: 'The state; the URI says of which kind of channel.',
    }),
    fromSeq: Seq,
  },
  {
    $id: 'Snapshot',
    description: 'The state of a channel at one point of the sequence; later actions have a greater number.',
  },
);
export type Snapshot = Omit<Static<typeof Snapshot>, 'state'> & {
  state: Static<(typeof channelStates)[keyof typeof channelStates]>;
};
