import { type Static, Type } from 'typebox';
import { Choice } from '../schema/define.js';

const Self = Type.Ref('ConfigPropertySchema');

export const configPropertyMembers = {
  type: Choice(['string', 'number', 'boolean', 'array', 'object']),
  title: Type.String(),
  description: Type.Optional(Type.String()),
  default: Type.Optional(Type.Unknown()),
  enum: Type.Optional(Type.Array(Type.String())),
  enumLabels: Type.Optional(Type.Array(Type.String())),
  enumDescriptions: Type.Optional(Type.Array(Type.String())),
  readOnly: Type.Optional(Type.Boolean()),
  items: Type.Optional(Self),
  properties: Type.Optional(Type.Record(Type.String(), Self)),
  required: Type.Optional(Type.Array(Type.String())),
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
