import { type Static, Type } from 'typebox';
import { ProviderJsonObject } from './json-object.js';

export const ProviderStreamEvent = Type.Object(
  {
    ts: Type.String({ description: 'ISO 8601, UTC.' }),
    event: Type.String({ description: 'What was pushed.' }),
    metadata: Type.Optional(ProviderJsonObject),
  },
  { $id: 'ProviderStreamEvent', description: 'One stored event of a stream.' },
);
export type ProviderStreamEvent = Static<typeof ProviderStreamEvent>;
