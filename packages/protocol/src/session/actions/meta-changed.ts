import { type Static, Type } from 'typebox';
import { Meta } from '../../common/meta.js';

export const SessionMetaChangedAction = Type.Object(
  { type: Type.Literal('session/metaChanged'), _meta: Type.Optional(Meta) },
  { $id: 'SessionMetaChangedAction', description: "The session's metadata, whole." },
);
export type SessionMetaChangedAction = Static<typeof SessionMetaChangedAction>;
