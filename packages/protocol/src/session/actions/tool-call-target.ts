import { Type } from 'typebox';
import { Meta } from '../../common/meta.js';

/** Which call an action is about. Reducers keep the `_meta` of the start and ignore all later ones. */
export const toolCallTarget = {
  turnId: Type.String(),
  toolCallId: Type.String(),
  _meta: Type.Optional(Meta),
};
