import { type Static, Type } from 'typebox';
import { RootChannel } from '../../common/root-channel.js';

export const PingParams = Type.Object(
  { channel: RootChannel },
  { $id: 'PingParams', description: 'Asks whether the other side is there. Answered even before `initialize`.' },
);
export type PingParams = Static<typeof PingParams>;

export const PingResult = Type.Null({ $id: 'PingResult', description: 'Nothing.' });
export type PingResult = Static<typeof PingResult>;
