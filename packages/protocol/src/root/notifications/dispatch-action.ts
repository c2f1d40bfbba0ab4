import { type Static, Type } from 'typebox';
import { StateAction } from '../../actions.js';
import { URI } from '../../common/uri.js';
import { Seq } from '../../schema/define.js';

export const DispatchActionParams = Type.Object(
  { channel: URI, clientSeq: Seq, action: StateAction },
  {
    $id: 'DispatchActionParams',
    description: 'The client asks for an action. Never answered; the action comes back with its origin.',
  },
);
export type DispatchActionParams = Static<typeof DispatchActionParams>;
