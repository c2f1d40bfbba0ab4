import { type Static, Type } from 'typebox';
import { Choice } from '../../schema/define.js';

export const ProviderConcurrency = Type.Object(
  {
    max: Type.Optional(Type.Integer({ minimum: 1, description: 'Calls at once.' })),
    scope: Type.Optional(
      Choice(['instance', 'provider', 'tool'], { description: 'What `max` is counted over; `instance` when absent.' }),
    ),
  },
  { $id: 'ProviderConcurrency', description: 'How many calls a provider takes at once; without `max`, any number.' },
);
export type ProviderConcurrency = Static<typeof ProviderConcurrency>;
