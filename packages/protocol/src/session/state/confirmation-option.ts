import { type Static, Type } from 'typebox';
import { Choice } from '../../schema/define.js';

export const ConfirmationOption = Type.Object(
  { id: Type.String(), label: Type.String(), kind: Choice(['approve', 'deny']), group: Type.Optional(Type.Number()) },
  { $id: 'ConfirmationOption', description: 'A button under a question for permission.' },
);
export type ConfirmationOption = Static<typeof ConfirmationOption>;
