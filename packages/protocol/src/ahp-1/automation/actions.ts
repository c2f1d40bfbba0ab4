/** The actions of the automation catalogue and of automation runs. */
import { type Static, Type } from 'typebox';
import { URI } from '../common/types.js';
import { AutomationDefinition, AutomationEntry, AutomationRunLifecycle } from './state.js';

export const AutomationCreateRequestedAction = Type.Object(
  {
    type: Type.Literal('automation/createRequested'),
    resource: Type.Optional(URI),
    definition: Type.Optional(AutomationDefinition),
  },
  { $id: 'AutomationCreateRequestedAction', description: 'A person wants a new automation.' },
);
export type AutomationCreateRequestedAction = Static<typeof AutomationCreateRequestedAction>;

export const AutomationUpdateRequestedAction = Type.Object(
  {
    type: Type.Literal('automation/updateRequested'),
    resource: Type.Optional(URI),
    definition: Type.Optional(AutomationDefinition),
  },
  { $id: 'AutomationUpdateRequestedAction', description: 'A person wants to change an automation.' },
);
export type AutomationUpdateRequestedAction = Static<typeof AutomationUpdateRequestedAction>;

export const AutomationSetAction = Type.Object(
  { type: Type.Literal('automation/set'), automation: AutomationEntry },
  { $id: 'AutomationSetAction', description: 'An automation was added, or replaced as a whole.' },
);
export type AutomationSetAction = Static<typeof AutomationSetAction>;

export const AutomationRemovedAction = Type.Object(
  { type: Type.Literal('automation/removed'), resource: URI },
  { $id: 'AutomationRemovedAction', description: 'An automation was removed.' },
);
export type AutomationRemovedAction = Static<typeof AutomationRemovedAction>;

/** Every action of the automation catalogue, by its type. */
export const automationActions = {
  'automation/createRequested': AutomationCreateRequestedAction,
  'automation/updateRequested': AutomationUpdateRequestedAction,
  'automation/set': AutomationSetAction,
  'automation/removed': AutomationRemovedAction,
} as const;

export type AutomationActionType = keyof typeof automationActions;
export type AutomationActionMap = { [Type in AutomationActionType]: Static<(typeof automationActions)[Type]> };
export type AutomationAction = AutomationActionMap[AutomationActionType];

export const AutomationRunCancelRequestedAction = Type.Object(
  { type: Type.Literal('automationRun/cancelRequested') },
  { $id: 'AutomationRunCancelRequestedAction', description: 'A person wants to stop the run.' },
);
export type AutomationRunCancelRequestedAction = Static<typeof AutomationRunCancelRequestedAction>;

export const AutomationRunLifecycleChangedAction = Type.Object(
  { type: Type.Literal('automationRun/lifecycleChanged'), lifecycle: AutomationRunLifecycle },
  { $id: 'AutomationRunLifecycleChangedAction', description: 'The run started or ended.' },
);
export type AutomationRunLifecycleChangedAction = Static<typeof AutomationRunLifecycleChangedAction>;

export const AutomationRunSessionSetAction = Type.Object(
  { type: Type.Literal('automationRun/sessionSet'), session: URI },
  { $id: 'AutomationRunSessionSetAction', description: 'The run has one more session.' },
);
export type AutomationRunSessionSetAction = Static<typeof AutomationRunSessionSetAction>;

export const AutomationRunSessionRemovedAction = Type.Object(
  { type: Type.Literal('automationRun/sessionRemoved'), session: URI },
  { $id: 'AutomationRunSessionRemovedAction', description: 'A session of the run was disposed.' },
);
export type AutomationRunSessionRemovedAction = Static<typeof AutomationRunSessionRemovedAction>;

export const AutomationRunPrimarySessionChangedAction = Type.Object(
  { type: Type.Literal('automationRun/primarySessionChanged'), primarySession: Type.Optional(URI) },
  { $id: 'AutomationRunPrimarySessionChangedAction', description: 'Another session is the main one, or none is.' },
);
export type AutomationRunPrimarySessionChangedAction = Static<typeof AutomationRunPrimarySessionChangedAction>;

/** Every action of an automation run, by its type. */
export const automationRunActions = {
  'automationRun/cancelRequested': AutomationRunCancelRequestedAction,
  'automationRun/lifecycleChanged': AutomationRunLifecycleChangedAction,
  'automationRun/sessionSet': AutomationRunSessionSetAction,
  'automationRun/sessionRemoved': AutomationRunSessionRemovedAction,
  'automationRun/primarySessionChanged': AutomationRunPrimarySessionChangedAction,
} as const;

export type AutomationRunActionType = keyof typeof automationRunActions;
export type AutomationRunActionMap = {
  [Type in AutomationRunActionType]: Static<(typeof automationRunActions)[Type]>;
};
export type AutomationRunAction = AutomationRunActionMap[AutomationRunActionType];
