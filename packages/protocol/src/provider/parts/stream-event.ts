import { type Static, Type } from 'typebox';
import { ProviderJsonObject } from './json-object.js';

export const ProviderStreamEvent = Type.Object(
  {
    /** ISO 8601, UTC. */
    ts: Type.String(),
    event: Type.String(),
    metadata: Type.Optional(ProviderJsonObject),
  },
  { $id: 'ProviderStreamEvent', description: 'One stored event of a stream.' },
);
export type ProviderStreamEvent = Static<typeof ProviderStreamEvent>;
