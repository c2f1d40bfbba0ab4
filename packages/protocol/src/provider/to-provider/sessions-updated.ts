import { type Static, Type } from 'typebox';
import { ProviderSessionEntry } from '../parts/session-entry.js';

export const ProviderSessionsUpdatedMessage = Type.Object(
  { type: Type.Literal('sessions.updated'), active: Type.Array(ProviderSessionEntry) },
  { $id: 'ProviderSessionsUpdatedMessage', description: 'A session started or ended; this is the whole new list.' },
);
export type ProviderSessionsUpdatedMessage = Static<typeof ProviderSessionsUpdatedMessage>;
