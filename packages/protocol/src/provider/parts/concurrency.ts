import { type Static, Type } from 'typebox';
import { Choice } from '../../schema/define.js';

export const ProviderConcurrency = Type.Object(
  {
    max: Type.Optional(Type.Integer({ minimum: 1 })),
    /** What `max` is counted over; `instance` when absent. */
    scope: Type.Optional(Choice(['instance', 'provider', 'tool'])),
  },
  { $id: 'ProviderConcurrency', description: 'How many calls a provider takes at once; without `max`, any number.' },
);
export type ProviderConcurrency = Static<typeof ProviderConcurrency>;
