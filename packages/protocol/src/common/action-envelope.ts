import { type Static, Type } from 'typebox';
import { StateAction } from '../actions.js';
import { Seq } from '../schema/define.js';
import { ActionOrigin } from './action-origin.js';
import { URI } from './uri.js';

export const ActionEnvelope = Type.Object(
  {
    channel: URI,
    action: StateAction,
    serverSeq: Seq,
    origin: Type.Optional(ActionOrigin),
    rejectionReason: Type.Optional(
      Type.String({
        description: 'Why the host refused it. Only in the echo to the client that asked; nothing has changed.',
      }),
    ),
  },
  {
    $id: 'ActionEnvelope',
    description: 'An action in its place in the one sequence. With a `rejectionReason` it must not be reduced.',
  },
);
export type ActionEnvelope = Static<typeof ActionEnvelope>;
