import { type Static, Type } from 'typebox';
import { StringOrMarkdown } from '../../common/string-or-markdown.js';
import { Choice } from '../../schema/define.js';
import { UserMessage } from '../state/user-message.js';
import { toolCallTarget } from './tool-call-target.js';

export const SessionToolCallDeniedAction = Type.Object(
  {
    type: Type.Literal('session/toolCallConfirmed'),
    ...toolCallTarget,
    approved: Type.Literal(false),
    reason: Choice(['denied', 'skipped'], { description: 'Whether the person refused the call or passed over it.' }),
    userSuggestion: Type.Optional(UserMessage),
    reasonMessage: Type.Optional(StringOrMarkdown),
    selectedOptionId: Type.Optional(Type.String()),
  },
  { $id: 'SessionToolCallDeniedAction', description: 'A person refuses the call, perhaps with advice.' },
);
export type SessionToolCallDeniedAction = Static<typeof SessionToolCallDeniedAction>;
