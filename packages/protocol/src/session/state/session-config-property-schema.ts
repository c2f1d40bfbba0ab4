import { type Static, Type } from 'typebox';
import { ConfigPropertySchema, configPropertyMembers } from '../../common/config-property-schema.js';
import { MapOf } from '../../schema/define.js';

export const SessionConfigPropertySchema = Type.Object(
  {
    ...configPropertyMembers,
    items: Type.Optional(ConfigPropertySchema),
    properties: Type.Optional(MapOf(ConfigPropertySchema)),
    enumDynamic: Type.Optional(
      Type.Boolean({
        description: 'Whether there are more values than `enum` lists; look them up with `sessionConfigCompletions`.',
      }),
    ),
    sessionMutable: Type.Optional(
      Type.Boolean({ description: 'Whether it may change after the session was created.' }),
    ),
  },
  {
    $id: 'SessionConfigPropertySchema',
    description: 'One property of a session configuration; `enumDynamic` values are looked up, not listed.',
  },
);
export type SessionConfigPropertySchema = Static<typeof SessionConfigPropertySchema>;
