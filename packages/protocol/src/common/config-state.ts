import { type Static, Type } from 'typebox';
import { MapOf } from '../schema/define.js';
import { ConfigSchema } from './config-schema.js';

export const RootConfigState = Type.Object(
  { schema: ConfigSchema, values: MapOf(Type.Unknown()) },
  { $id: 'RootConfigState', description: 'Host-level configuration: what may be set, and what is.' },
);
export type RootConfigState = Static<typeof RootConfigState>;
