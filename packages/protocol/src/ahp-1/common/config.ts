/** Configuration: the schema of its properties, and their values. */
import { type Static, Type } from 'typebox';
import { Choice, MapOf } from '../../schema/define.js';
import { JsonPrimitive } from './types.js';

const Self = Type.Ref('ConfigPropertySchema');

const configPropertyMembers = {
  type: Choice(['string', 'number', 'boolean', 'array', 'object'], { description: 'The type of its values.' }),
  title: Type.String(),
  description: Type.Optional(Type.String()),
  default: Type.Optional(Type.Unknown({ description: 'The value that applies when none is set.' })),
  enum: Type.Optional(Type.Array(JsonPrimitive, { description: 'The allowed values.' })),
  enumLabels: Type.Optional(
    Type.Array(Type.String(), { description: 'Display names of the values, in the order of `enum`.' }),
  ),
  enumDescriptions: Type.Optional(
    Type.Array(Type.String(), { description: 'What the values mean, in the order of `enum`.' }),
  ),
  readOnly: Type.Optional(Type.Boolean({ description: 'Whether only the host may change it.' })),
  required: Type.Optional(Type.Array(Type.String(), { description: 'Members that are required.' })),
  minItems: Type.Optional(Type.Number({ description: 'The minimum number of items of a list.' })),
  maxItems: Type.Optional(Type.Number({ description: 'The maximum number of items of a list.' })),
};

export const ConfigPropertySchema = Type.Cyclic(
  {
    ConfigPropertySchema: Type.Object(
      {
        ...configPropertyMembers,
        items: Type.Optional(Self),
        properties: Type.Optional(Type.Record(Type.String(), Self)),
        additionalProperties: Type.Optional(Self),
      },
      { description: 'One property of a configuration, in a subset of JSON Schema.' },
    ),
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

export const SessionConfigPropertySchema = Type.Object(
  {
    ...configPropertyMembers,
    items: Type.Optional(ConfigPropertySchema),
    properties: Type.Optional(MapOf(ConfigPropertySchema)),
    additionalProperties: Type.Optional(ConfigPropertySchema),
    enumDynamic: Type.Optional(
      Type.Boolean({ description: 'Whether `enum` is incomplete; `sessionConfigCompletions` looks up more values.' }),
    ),
    sessionMutable: Type.Optional(Type.Boolean({ description: 'Whether it may change after the session is created.' })),
  },
  {
    $id: 'SessionConfigPropertySchema',
    description: 'One property of a session configuration; `enumDynamic` values are looked up, not listed.',
  },
);
export type SessionConfigPropertySchema = Static<typeof SessionConfigPropertySchema>;

export const SessionConfigSchema = Type.Object(
  {
    type: Type.Literal('object'),
    properties: MapOf(SessionConfigPropertySchema),
    required: Type.Optional(Type.Array(Type.String(), { description: 'Properties that must have a value.' })),
  },
  { $id: 'SessionConfigSchema', description: 'The configuration a session offers.' },
);
export type SessionConfigSchema = Static<typeof SessionConfigSchema>;

export const SessionConfigState = Type.Object(
  { schema: SessionConfigSchema, values: MapOf(Type.Unknown()) },
  { $id: 'SessionConfigState', description: 'Configuration of a session: its schema and its values.' },
);
export type SessionConfigState = Static<typeof SessionConfigState>;
