import { type Static, Type } from 'typebox';
import { StringOrMarkdown } from '../../common/string-or-markdown.js';
import { toolCallTarget } from './tool-call-target.js';

export const SessionToolCallDeltaAction = Type.Object(
  {
    type: Type.Literal('session/toolCallDelta'),
    ...toolCallTarget,
    content: Type.String({ description: 'The text to append to the arguments.' }),
    invocationMessage: Type.Optional(StringOrMarkdown),
  },
  { $id: 'SessionToolCallDeltaAction', description: 'Parameters of a call, as the model writes them.' },
);
export type SessionToolCallDeltaAction = Static<typeof SessionToolCallDeltaAction>;
