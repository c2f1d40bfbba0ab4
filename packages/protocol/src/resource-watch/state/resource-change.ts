import { type Static, Type } from 'typebox';
import { URI } from '../../common/uri.js';
import { ResourceChangeType } from './resource-change-type.js';

export const ResourceChange = Type.Object(
  { uri: URI, type: ResourceChangeType },
  { $id: 'ResourceChange', description: 'One changed resource.' },
);
export type ResourceChange = Static<typeof ResourceChange>;
