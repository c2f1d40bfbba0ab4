import { type Static, Type } from 'typebox';
import { Choice } from '../../schema/define.js';

export const ConfirmationOption = Type.Object(
  {
    id: Type.String(),
    label: Type.String(),
    kind: Choice(['approve', 'deny'], { description: 'What pressing it answers.' }),
    group: Type.Optional(Type.Number({ description: 'Buttons of one group stand together.' })),
  },
  { $id: 'ConfirmationOption', description: 'A button under a question for permission.' },
);
export type ConfirmationOption = Static<typeof ConfirmationOption>;
