import { Type } from 'typebox';
import { StringOrMarkdown } from '../../common/string-or-markdown.js';

/** What is known of a call once its parameters are complete. */
export const toolCallParameters = {
  invocationMessage: StringOrMarkdown,
  toolInput: Type.Optional(Type.String()),
};
