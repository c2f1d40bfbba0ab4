import { type Static, Type } from 'typebox';
import { MapOf } from '../../schema/define.js';
import { SessionConfigPropertySchema } from './session-config-property-schema.js';

export const SessionConfigSchema = Type.Object(
  {
    type: Type.Literal('object'),
    properties: MapOf(SessionConfigPropertySchema),
    required: Type.Optional(Type.Array(Type.String(), { description: 'Properties that must have a value.' })),
  },
  { $id: 'SessionConfigSchema', description: 'The configuration a session offers.' },
);
export type SessionConfigSchema = Static<typeof SessionConfigSchema>;
