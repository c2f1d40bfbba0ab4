import { type Static, Type } from 'typebox';
import { updateMembers } from '../parts/update-members.js';

export const ProviderContextUpdateMessage = Type.Object(
  {
    type: Type.Literal('context.update'),
    ...updateMembers,
    /** Null or empty clears it. */
    context: Type.Union([Type.String(), Type.Null()]),
  },
  { $id: 'ProviderContextUpdateMessage', description: 'Replaces what the model is told with every prompt.' },
);
export type ProviderContextUpdateMessage = Static<typeof ProviderContextUpdateMessage>;
