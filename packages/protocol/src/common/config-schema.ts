import { type Static, Type } from 'typebox';
import { MapOf } from '../schema/define.js';
import { ConfigPropertySchema } from './config-property-schema.js';

export const ConfigSchema = Type.Object(
  {
    type: Type.Literal('object'),
    properties: MapOf(ConfigPropertySchema),
    required: Type.Optional(Type.Array(Type.String(), { description: 'Properties that must have a value.' })),
  },
  { $id: 'ConfigSchema', description: 'The properties of a configuration object.' },
);
export type ConfigSchema = Static<typeof ConfigSchema>;
