import { type Static, Type } from 'typebox';
import { updateMembers } from '../parts/update-members.js';

export const ProviderContextUpdateMessage = Type.Object(
  {
    type: Type.Literal('context.update'),
    ...updateMembers,
    context: Type.Union([Type.String(), Type.Null()], { description: 'Null or empty clears it.' }),
  },
  { $id: 'ProviderContextUpdateMessage', description: 'Replaces what the model is told with every prompt.' },
);
export type ProviderContextUpdateMessage = Static<typeof ProviderContextUpdateMessage>;
