import { Type } from 'typebox';
import { StringOrMarkdown } from '../../common/string-or-markdown.js';
import { MapOf } from '../../schema/define.js';
import { ToolCallError } from './tool-call-error.js';
import { ToolResultContent } from './tool-result-content.js';

/** What a finished call adds to itself. */
export const toolCallResultMembers = {
  success: Type.Boolean(),
  pastTenseMessage: StringOrMarkdown,
  content: Type.Optional(Type.Array(ToolResultContent)),
  structuredContent: Type.Optional(MapOf(Type.Unknown())),
  error: Type.Optional(ToolCallError),
};
