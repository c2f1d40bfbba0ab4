import { type Static, Type } from 'typebox';
import { URI } from '../../common/uri.js';
import { Turn } from '../state/turn.js';

export const FetchTurnsParams = Type.Object(
  {
    channel: URI,
    before: Type.Optional(Type.String({ description: 'The id of a turn: only older ones; absent for the newest.' })),
    limit: Type.Optional(Type.Number({ description: 'How many at most.' })),
  },
  { $id: 'FetchTurnsParams', description: 'Pages through finished turns, newest page first.' },
);
export type FetchTurnsParams = Static<typeof FetchTurnsParams>;

export const FetchTurnsResult = Type.Object(
  { turns: Type.Array(Turn), hasMore: Type.Boolean({ description: 'Whether there are older ones.' }) },
  { $id: 'FetchTurnsResult', description: 'A page of turns, oldest first.' },
);
export type FetchTurnsResult = Static<typeof FetchTurnsResult>;
