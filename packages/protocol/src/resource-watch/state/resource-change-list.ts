import { type Static, Type } from 'typebox';
import { ResourceChange } from './resource-change.js';

export const ResourceChangeList = Type.Object(
  { items: Type.Array(ResourceChange) },
  { $id: 'ResourceChangeList', description: 'A batch of changes; never empty on the wire.' },
);
export type ResourceChangeList = Static<typeof ResourceChangeList>;
