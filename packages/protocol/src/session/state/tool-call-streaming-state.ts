import { type Static, Type } from 'typebox';
import { StringOrMarkdown } from '../../common/string-or-markdown.js';
import { toolCallBase } from './tool-call-base.js';

export const ToolCallStreamingState = Type.Object(
  {
    status: Type.Literal('streaming'),
    ...toolCallBase,
    partialInput: Type.Optional(
      Type.String({ description: 'The arguments so far, as JSON text that is not complete.' }),
    ),
    invocationMessage: Type.Optional(StringOrMarkdown),
  },
  { $id: 'ToolCallStreamingState', description: "The model is still writing the call's parameters." },
);
export type ToolCallStreamingState = Static<typeof ToolCallStreamingState>;
