import { type Static, Type } from 'typebox';
import { UsageInfo } from '../../common/usage-info.js';
import { ResponsePart } from './response-part.js';
import { UserMessage } from './user-message.js';

export const ActiveTurn = Type.Object(
  {
    id: Type.String(),
    userMessage: UserMessage,
    responseParts: Type.Array(ResponsePart),
    usage: Type.Optional(UsageInfo),
  },
  {
    $id: 'ActiveTurn',
    description:
      'The turn in progress. It lives outside the list of finished turns, so that streaming never copies them.',
  },
);
export type ActiveTurn = Static<typeof ActiveTurn>;
