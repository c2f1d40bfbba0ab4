import { type Static, Type } from 'typebox';
import { Snapshot } from '../../common/snapshot.js';
import { URI } from '../../common/uri.js';

export const SubscribeParams = Type.Object(
  { channel: URI },
  { $id: 'SubscribeParams', description: 'Asks for the state of a channel and for all that follows.' },
);
export type SubscribeParams = Static<typeof SubscribeParams>;

export const SubscribeResult = Type.Object(
  { snapshot: Type.Optional(Snapshot) },
  { $id: 'SubscribeResult', description: 'The state; nothing for a stateless channel.' },
);
export type SubscribeResult = Static<typeof SubscribeResult>;
