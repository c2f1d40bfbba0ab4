/** The actions of a watch. */
import { type Static, Type } from 'typebox';
import { ResourceChangeList } from './state.js';

export const ResourceWatchChangedAction = Type.Object(
  { type: Type.Literal('resourceWatch/changed'), changes: ResourceChangeList },
  { $id: 'ResourceWatchChangedAction', description: 'Resources changed.' },
);
export type ResourceWatchChangedAction = Static<typeof ResourceWatchChangedAction>;

/** Every action of the resource watch channel, by its type. */
export const resourceWatchActions = {
  'resourceWatch/changed': ResourceWatchChangedAction,
} as const;

export type ResourceWatchActionType = keyof typeof resourceWatchActions;
export type ResourceWatchActionMap = { [Type in ResourceWatchActionType]: Static<(typeof resourceWatchActions)[Type]> };
export type ResourceWatchAction = ResourceWatchActionMap[ResourceWatchActionType];
