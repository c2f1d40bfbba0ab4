import { type Static, Type } from 'typebox';
import { MapOf } from '../../schema/define.js';

export const SessionConfigChangedAction = Type.Object(
  {
    type: Type.Literal('session/configChanged'),
    config: MapOf(Type.Unknown(), { description: 'Values by the names of properties.' }),
    replace: Type.Optional(Type.Boolean()),
  },
  {
    $id: 'SessionConfigChangedAction',
    description: 'Session configuration values were merged in, or replaced as a whole.',
  },
);
export type SessionConfigChangedAction = Static<typeof SessionConfigChangedAction>;
