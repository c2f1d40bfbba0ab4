/** Which version-1 actions an internal action becomes: a table by type. Types that are not in it are suppressed. */
import type { ActionType } from '../../actions.js';
import type { V1Action } from '../../versions/v1.js';
import { messageToV1, usageToV1 } from './messages.js';
import { agentToV1 } from './state.js';
import { textTranslators } from './text-actions.js';
import { toolCallTranslators } from './tool-call-actions.js';
import { concernsTurn, type StepContext, type Translator, type Translators, type V1ActionBody } from './translator.js';

const translators: Partial<Translators<ActionType>> = {
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
};

/** The answer to a question is what a version-1 client dispatches, whatever follows from it. */
const ECHOED_AS: Partial<Record<ActionType, V1Action['type']>> = {
  'session/toolCallConfirmed': 'session/permissionResolved',
  'session/toolCallResultConfirmed': 'session/permissionResolved',
};

export function actionToV1(step: StepContext): readonly V1ActionBody[] {
  const { action } = step.envelope;
  if (!Object.hasOwn(translators, action.type)) return [];
  const translate = translators[action.type] as Translator<ActionType> | undefined;
  return translate?.(action, step) ?? [];
}

/** Which of several actions stands for the one that was dispatched, and so carries its origin. */
export function echoIndex(type: ActionType, bodies: readonly V1ActionBody[]): number {
  const echo = bodies.findIndex((body) => body.type === ECHOED_AS[type]);
  return echo < 0 ? bodies.length - 1 : echo;
}
