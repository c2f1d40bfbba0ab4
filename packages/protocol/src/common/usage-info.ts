import { type Static, Type } from 'typebox';
import { Meta } from './meta.js';

export const UsageInfo = Type.Object(
  {
    inputTokens: Type.Optional(Type.Number({ description: 'Tokens that the model read.' })),
    outputTokens: Type.Optional(Type.Number({ description: 'Tokens that it wrote.' })),
    cacheReadTokens: Type.Optional(Type.Number({ description: 'Those of the input that came from a cache.' })),
    model: Type.Optional(Type.String({ description: 'The model that was used.' })),
    _meta: Type.Optional(Meta),
  },
  { $id: 'UsageInfo', description: 'Tokens spent on a turn.' },
);
export type UsageInfo = Static<typeof UsageInfo>;
