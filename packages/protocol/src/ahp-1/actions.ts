/** All actions of all channels: the only things that change state. */
import type { Static } from 'typebox';
import { resourceWatchActions } from '../resource-watch/actions.js';
import { OpenUnion } from '../schema/define.js';
import { annotationsActions } from './annotations/actions.js';
import { automationActions, automationRunActions } from './automation/actions.js';
import { canvasActions } from './canvas/actions.js';
import { changesetActions } from './changeset/actions.js';
import { chatActions } from './chat/actions.js';
import { rootActions } from './root/actions.js';
import { sessionActions } from './session/actions.js';
import { terminalActions } from './terminal/actions.js';

export const stateActions = {
  ...rootActions,
  ...sessionActions,
  ...chatActions,
  ...changesetActions,
  ...annotationsActions,
  ...terminalActions,
  ...automationActions,
  ...automationRunActions,
  ...canvasActions,
  ...resourceWatchActions,
} as const;

export type ActionType = keyof typeof stateActions;
export type ActionMap = { [Type in ActionType]: Static<(typeof stateActions)[Type]> };

export const StateAction = OpenUnion('type', Object.values(stateActions), {
  $id: 'StateAction',
  description: 'Any action. Reducers ignore a type that they do not know.',
});
export type StateAction = ActionMap[ActionType];
