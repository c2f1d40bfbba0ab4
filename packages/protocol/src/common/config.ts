/** Configuration: which properties there are, and their values. */
import { type Static, Type } from 'typebox';
import { Choice, MapOf } from '../schema/define.js';

const Self = Type.Ref('ConfigPropertySchema');

export const configPropertyMembers = {
  type: Choice(['string', 'number', 'boolean', 'array', 'object'], { description: 'What its values are.' }),
  title: Type.String(),
  description: Type.Optional(Type.String()),
  default: Type.Optional(Type.Unknown({ description: 'The value that counts when none is set.' })),
  enum: Type.Optional(Type.Array(Type.String(), { description: 'The values that are allowed.' })),
  enumLabels: Type.Optional(
    Type.Array(Type.String(), { description: 'Their names for people, in the order of `enum`.' }),
  ),
  enumDescriptions: Type.Optional(
    Type.Array(Type.String(), { description: 'What they mean, in the order of `enum`.' }),
  ),
  readOnly: Type.Optional(Type.Boolean({ description: 'Whether only the host changes it.' })),
  items: Type.Optional(Self),
  properties: Type.Optional(Type.Record(Type.String(), Self)),
  required: Type.Optional(Type.Array(Type.String(), { description: 'Members that must be there.' })),
};

export const ConfigPropertySchema = Type.Cyclic(
  {
    ConfigPropertySchema: Type.Object(configPropertyMembers, {
      description: 'One property of a configuration, in a small part of JSON Schema.',
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
  { $id: 'RootConfigState', description: 'Host-level configuration: what may be set, and what is.' },
);
export type RootConfigState = Static<typeof RootConfigState>;
