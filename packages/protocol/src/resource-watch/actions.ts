import type { Static } from 'typebox';
import { ResourceWatchChangedAction } from './actions/changed.js';

/** Every action of the resource watch channel, by its type. */
export const resourceWatchActions = {
  'resourceWatch/changed': ResourceWatchChangedAction,
} as const;

export type ResourceWatchActionType = keyof typeof resourceWatchActions;
export type ResourceWatchActionMap = { [Type in ResourceWatchActionType]: Static<(typeof resourceWatchActions)[Type]> };
export type ResourceWatchAction = ResourceWatchActionMap[ResourceWatchActionType];
