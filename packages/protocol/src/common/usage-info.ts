import { type Static, Type } from 'typebox';
import { Meta } from './meta.js';

export const UsageInfo = Type.Object(
  {
    inputTokens: Type.Optional(Type.Number()),
    outputTokens: Type.Optional(Type.Number()),
    cacheReadTokens: Type.Optional(Type.Number()),
    model: Type.Optional(Type.String()),
    _meta: Type.Optional(Meta),
  },
  { $id: 'UsageInfo', description: 'Tokens spent on a turn.' },
);
export type UsageInfo = Static<typeof UsageInfo>;
