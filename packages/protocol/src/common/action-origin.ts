import { type Static, Type } from 'typebox';
import { Seq } from '../schema/define.js';

export const ActionOrigin = Type.Object(
  { clientId: Type.String(), clientSeq: Seq },
  { $id: 'ActionOrigin', description: 'Which client asked for an action, and under which of its numbers.' },
);
export type ActionOrigin = Static<typeof ActionOrigin>;
