import { type Static, Type } from 'typebox';
import { URI } from '../../common/uri.js';

export const UnsubscribeParams = Type.Object(
  { channel: URI },
  { $id: 'UnsubscribeParams', description: 'The client no longer wants a channel.' },
);
export type UnsubscribeParams = Static<typeof UnsubscribeParams>;
