import { Type } from 'typebox';
import { Meta } from '../../common/meta.js';

/** The five members that a tool call keeps through all its states. */
export const toolCallBase = {
  toolCallId: Type.String(),
  toolName: Type.String(),
  displayName: Type.String(),
  toolClientId: Type.Optional(Type.String()),
  _meta: Type.Optional(Meta),
};
