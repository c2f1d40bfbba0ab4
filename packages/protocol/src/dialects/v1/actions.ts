/** Which version-1 actions an internal action becomes: a table by type. */
import type { ActionType } from '../../actions.js';
import type { V1Action } from '../../versions/v1.js';
import { messageToV1, usageToV1 } from './messages.js';
import { agentToV1 } from './state.js';
import { textTranslators } from './text-actions.js';
import { toolCallTranslators } from './tool-call-actions.js';
import { concernsTurn, type StepContext, type Translator, type Translators, type V1ActionBody } from './translator.js';

const translators = {
  'root/agentsChanged': ({ type, agents }) => [{ type, agents: agents.map(agentToV1) }],
  'session/ready': ({ type }) => [{ type }],
  'session/creationFailed': ({ type, error }) => [{ type, error }],
  'session/titleChanged': ({ type, title }) => [{ type, title }],
  'session/modelChanged': ({ type, model }) => [{ type, model: model.id }],
  'session/turnStarted': ({ type, turnId, userMessage }) => [{ type, turnId, userMessage: messageToV1(userMessage) }],
  'session/turnComplete': ({ type, turnId }, step) => (concernsTurn(step, turnId) ? [{ type, turnId }] : []),
  'session/turnCancelled': ({ type, turnId }, step) => (concernsTurn(step, turnId) ? [{ type, turnId }] : []),
  'session/error': ({ type, turnId, error }, step) => (concernsTurn(step, turnId) ? [{ type, turnId, error }] : []),
  'session/usage': ({ type, turnId, usage }, step) =>
    concernsTurn(step, turnId) ? [{ type, turnId, usage: usageToV1(usage) }] : [],
  ...textTranslators,
  ...toolCallTranslators,
} satisfies Partial<Translators<ActionType>>;

/**
 * What version 1 has no words for. Together the two tables are exhaustive: a new action does not compile until somebody
 * has decided what an old client gets.
 */
const UNSAID: { readonly [Type in Exclude<ActionType, keyof typeof translators>]: true } = {
  'root/activeSessionsChanged': true,
  'root/terminalsChanged': true,
  'root/configChanged': true,
  'session/toolCallStart': true,
  'session/toolCallDelta': true,
  'session/toolCallContentChanged': true,
  'session/agentChanged': true,
  'session/serverToolsChanged': true,
  'session/activeClientChanged': true,
  'session/activeClientToolsChanged': true,
  'session/pendingMessageSet': true,
  'session/pendingMessageRemoved': true,
  'session/queuedMessagesReordered': true,
  'session/inputRequested': true,
  'session/inputAnswerChanged': true,
  'session/inputCompleted': true,
  'session/customizationsChanged': true,
  'session/customizationToggled': true,
  'session/customizationUpdated': true,
  'session/customizationRemoved': true,
  'session/truncated': true,
  'session/isReadChanged': true,
  'session/isArchivedChanged': true,
  'session/activityChanged': true,
  'session/changesetsChanged': true,
  'session/configChanged': true,
  'session/metaChanged': true,
  'changeset/statusChanged': true,
  'changeset/fileSet': true,
  'changeset/fileRemoved': true,
  'changeset/operationsChanged': true,
  'changeset/cleared': true,
  'terminal/data': true,
  'terminal/input': true,
  'terminal/resized': true,
  'terminal/claimed': true,
  'terminal/titleChanged': true,
  'terminal/cwdChanged': true,
  'terminal/exited': true,
  'terminal/cleared': true,
  'terminal/commandDetectionAvailable': true,
  'terminal/commandExecuted': true,
  'terminal/commandFinished': true,
  'resourceWatch/changed': true,
};

/** The answer to a question is what a version-1 client dispatches, whatever follows from it. */
const ECHOED_AS: Partial<Record<ActionType, V1Action['type']>> = {
  'session/toolCallConfirmed': 'session/permissionResolved',
  'session/toolCallResultConfirmed': 'session/permissionResolved',
};

export function actionToV1(step: StepContext): readonly V1ActionBody[] {
  const { action } = step.envelope;
  if (Object.hasOwn(UNSAID, action.type) || !Object.hasOwn(translators, action.type)) return [];
  const translate = (translators as Partial<Translators<ActionType>>)[action.type] as Translator<ActionType>;
  return translate(action, step);
}

/** Which of several actions stands for the one that was dispatched, and so carries its origin. */
export function echoIndex(type: ActionType, bodies: readonly V1ActionBody[]): number {
  const echo = bodies.findIndex((body) => body.type === ECHOED_AS[type]);
  return echo < 0 ? bodies.length - 1 : echo;
}
