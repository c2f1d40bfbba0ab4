/** Configuration: the schema of its properties, and their values. */
import { type Static, Type } from 'typebox';
import { Choice, MapOf } from '../schema/define.js';

const Self = Type.Ref('ConfigPropertySchema');

export const configPropertyMembers = {
  type: Choice(['string', 'number', 'boolean', 'array', 'object'], { description: 'The type of its values.' }),
  title: Type.String(),
  description: Type.Optional(Type.String()),
  default: Type.Optional(Type.Unknown({ description: 'The value that applies when none is set.' })),
  enum: Type.Optional(Type.Array(Type.String(), { description: 'The allowed values.' })),
  enumLabels: Type.Optional(
    Type.Array(Type.String(), { description: 'Display names of the values, in the order of `enum`.' }),
  ),
  enumDescriptions: Type.Optional(
    Type.Array(Type.String(), { description: 'What the values mean, in the order of `enum`.' }),
  ),
  readOnly: Type.Optional(Type.Boolean({ description: 'Whether only the host may change it.' })),
  items: Type.Optional(Self),
  properties: Type.Optional(Type.Record(Type.String(), Self)),
  required: Type.Optional(Type.Array(Type.String(), { description: 'Members that are required.' })),
};

export const ConfigPropertySchema = Type.Cyclic(
  {
    ConfigPropertySchema: Type.Object(configPropertyMembers, {
      description: 'One property of a configuration, in a subset of JSON Schema.',
    }),
  },
  'ConfigPropertySchema',
);
export type ConfigPropertySchema = Static<typeof ConfigPropertySchema>;

export const ConfigSchema = Type.Object(
  {
    type: Type.Literal('object'),
    properties: MapOf(ConfigPropertySchema),
    required: Type.Optional(Type.Array(Type.String(), { description: 'Properties that must have a value.' })),
  },
  { $id: 'ConfigSchema', description: 'The properties of a configuration object.' },
);
export type ConfigSchema = Static<typeof ConfigSchema>;

export const RootConfigState = Type.Object(
  { schema: ConfigSchema, values: MapOf(Type.Unknown()) },
  { $id: 'RootConfigState', description: 'Configuration of the host: its schema and its values.' },
);
export type RootConfigState = Static<typeof RootConfigState>;
