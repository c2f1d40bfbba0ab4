import { type Static, Type } from 'typebox';
import { ResourceChangeList } from '../state/resource-change-list.js';

export const ResourceWatchChangedAction = Type.Object(
  { type: Type.Literal('resourceWatch/changed'), changes: ResourceChangeList },
  { $id: 'ResourceWatchChangedAction', description: 'Resources changed.' },
);
export type ResourceWatchChangedAction = Static<typeof ResourceWatchChangedAction>;
