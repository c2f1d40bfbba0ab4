import { type Static, Type } from 'typebox';
import { MapOf } from '../../schema/define.js';

export const ProviderJsonObject = MapOf(Type.Unknown(), {
  $id: 'ProviderJsonObject',
  description: 'Any JSON object; this contract does not define its keys.',
});
export type ProviderJsonObject = Static<typeof ProviderJsonObject>;
