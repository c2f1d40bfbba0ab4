import { type Static, Type } from 'typebox';
import { MapOf } from '../../schema/define.js';

export const RootConfigChangedAction = Type.Object(
  {
    type: Type.Literal('root/configChanged'),
    config: MapOf(Type.Unknown(), { description: 'Values by the names of properties.' }),
    replace: Type.Optional(Type.Boolean()),
  },
  { $id: 'RootConfigChangedAction', description: 'Host configuration values were merged in, or replaced as a whole.' },
);
export type RootConfigChangedAction = Static<typeof RootConfigChangedAction>;
