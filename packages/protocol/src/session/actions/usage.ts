import { type Static, Type } from 'typebox';
import { UsageInfo } from '../../common/usage-info.js';

export const SessionUsageAction = Type.Object(
  { type: Type.Literal('session/usage'), turnId: Type.String(), usage: UsageInfo },
  { $id: 'SessionUsageAction', description: 'Tokens spent on the turn so far.' },
);
export type SessionUsageAction = Static<typeof SessionUsageAction>;
