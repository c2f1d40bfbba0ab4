import { type Static, Type } from 'typebox';
import { MapOf } from '../schema/define.js';

export const Meta = MapOf(Type.Unknown(), {
  $id: 'Meta',
  description: 'Open metadata: a map whose keys this protocol does not define.',
});
export type Meta = Static<typeof Meta>;
