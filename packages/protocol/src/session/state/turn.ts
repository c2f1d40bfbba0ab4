import { type Static, Type } from 'typebox';
import { ErrorInfo } from '../../common/error-info.js';
import { UsageInfo } from '../../common/usage-info.js';
import { ResponsePart } from './response-part.js';
import { TurnState } from './turn-state.js';
import { UserMessage } from './user-message.js';

export const Turn = Type.Object(
  {
    id: Type.String(),
    userMessage: UserMessage,
    responseParts: Type.Array(ResponsePart),
    usage: Type.Optional(UsageInfo),
    state: TurnState,
    error: Type.Optional(ErrorInfo),
  },
  { $id: 'Turn', description: 'A turn that is over.' },
);
export type Turn = Static<typeof Turn>;
