import { type Static, Type } from 'typebox';
import { MapOf } from '../../schema/define.js';
import { SessionConfigSchema } from './session-config-schema.js';

export const SessionConfigState = Type.Object(
  { schema: SessionConfigSchema, values: MapOf(Type.Unknown()) },
  { $id: 'SessionConfigState', description: 'Session configuration: what may be set, and what is.' },
);
export type SessionConfigState = Static<typeof SessionConfigState>;
