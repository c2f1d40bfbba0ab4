/**
 * What each action of 1.0 is in 0.3.0: one action, nothing, or something that 0.3.0 cannot express. No states are
 * needed: what an action alone does not say, the host has written into its private members.
 */
import type * as Ahp1 from '../../ahp-1/index.js';
import { PRIVATE, privateMembersOf, standingRequestId, type WithPrivateMembers } from '../../ahp-1/private-members.js';
import type * as Ahp03 from '../../index.js';
import {
  activeClientDown,
  agentDown,
  changesetEntryDown,
  claimDown,
  customizationDown,
  enabledDown,
  fileDown,
  metaDown,
  modelDown,
  operationDown,
  terminalInfoDown,
} from './states.js';
import { contentDown, messageDown, partDown, toolClientOf, toolInputDown } from './turns.js';

/** Clients must take a snapshot, because no action of 0.3.0 expresses what happened. */
export interface Untranslatable {
  readonly untranslatable: string;
}

export type DownAction = Ahp03.StateAction | Untranslatable | undefined;

type Translator<Action> = (action: Action & WithPrivateMembers) => DownAction;

/** The action unchanged: 0.3.0 has the same. */
const same = (action: object): DownAction => action as Ahp03.StateAction;

/** 0.3.0 does not show what changes. */
const hidden = (): undefined => undefined;

const untranslatable = (reason: string) => (): Untranslatable => ({ untranslatable: reason });

type Translators = { readonly [Type in Ahp1.ActionType]: Translator<Ahp1.ActionMap[Type]> };

const streamTranslators = {
  'chat/delta': ({ turnId, partId, content }) => ({ type: 'session/delta', turnId, partId, content }),
  'chat/reasoning': ({ turnId, partId, content }) => ({ type: 'session/reasoning', turnId, partId, content }),
  'chat/responsePart': responsePart,
  'chat/usage': ({ turnId, usage }) => ({ type: 'session/usage', turnId, usage }),
} satisfies Partial<Translators>;

function responsePart({ turnId, part }: Ahp1.ChatResponsePartAction): DownAction {
  if (part.kind === 'inputRequest') {
    return part.response ? undefined : { type: 'session/inputRequested', request: part.request };
  }
  const shown = partDown(part);
  return shown && { type: 'session/responsePart', turnId, part: shown };
}

const RESTORED = 'Turns that were cut off are back, which 0.3.0 cannot express: reconnect for a snapshot.';

const turnTranslators = {
  'chat/turnStarted': ({ turnId, message, queuedMessageId }) => ({
    type: 'session/turnStarted',
    turnId,
    userMessage: messageDown(message),
    ...(queuedMessageId !== undefined && { queuedMessageId }),
  }),
  'chat/turnComplete': ({ turnId }) => ({ type: 'session/turnComplete', turnId }),
  'chat/turnCancelled': ({ turnId }) => ({ type: 'session/turnCancelled', turnId }),
  'chat/error': ({ turnId, part }) => ({ type: 'session/error', turnId, error: part.error }),
  'chat/turnResume': untranslatable('A finished turn goes on, which 0.3.0 cannot express: reconnect for a snapshot.'),
  'chat/truncated': ({ turnId }) => ({ type: 'session/truncated', ...(turnId !== undefined && { turnId }) }),
  // Every client of 0.3.0 fetches older turns itself, and does not expect turns that were cut off to come back.
  'chat/turnsLoaded': (action) => (privateMembersOf(action).restored ? { untranslatable: RESTORED } : undefined),
} satisfies Partial<Translators>;

/** The members that identify a call. */
function target({ turnId, toolCallId, _meta }: { turnId: string; toolCallId: string; _meta?: Ahp1.Meta }) {
  return { turnId, toolCallId, ...(_meta && { _meta }) };
}

const CALL_CHANGED = 'A waiting tool call was changed, which 0.3.0 cannot express: reconnect for a snapshot.';

const toolCallTranslators = {
  'chat/toolCallStart': (action) => ({
    type: 'session/toolCallStart',
    ...target(action),
    toolName: action.toolName,
    displayName: action.displayName,
    ...toolClientOf(action.contributor),
  }),
  'chat/toolCallDelta': ({ content = '', invocationMessage, ...action }) => ({
    type: 'session/toolCallDelta',
    ...target(action),
    content,
    ...(invocationMessage !== undefined && { invocationMessage }),
  }),
  'chat/toolCallReady': toolCallReady,
  'chat/toolCallConfirmed': toolCallConfirmed,
  'chat/toolCallComplete': ({ type, result, ...rest }) =>
    ({
      ...rest,
      type: 'session/toolCallComplete',
      result: { ...result, ...(result.content && { content: contentDown(result.content) }) },
    }) as Ahp03.SessionToolCallCompleteAction,
  'chat/toolCallResultConfirmed': ({ type, ...rest }) => ({ ...rest, type: 'session/toolCallResultConfirmed' }),
  'chat/toolCallContentChanged': ({ type, content, ...rest }) =>
    ({
      ...rest,
      type: 'session/toolCallContentChanged',
      content: contentDown(content),
    }) as Ahp03.SessionToolCallContentChangedAction,
  // 0.3.0 shows the call as running.
  'chat/toolCallAuthRequired': hidden,
  'chat/toolCallAuthResolved': hidden,
} satisfies Partial<Translators>;

/** In 0.3.0 the answer settles the question about a waiting call, and it cannot be asked again. */
function toolCallReady(action: Ahp1.ChatToolCallReadyAction & WithPrivateMembers): DownAction {
  const { type, toolInput, riskAssessment, contributor, intention, [PRIVATE]: marks, ...rest } = action;
  const { pending } = marks ?? {};
  const { confirmed } = rest;
  if (pending && confirmed) {
    const edited = pending === 'changed' && typeof toolInput === 'string' && { editedToolInput: toolInput };
    const approval = { type: 'session/toolCallConfirmed', ...target(action), approved: true, confirmed, ...edited };
    return approval as Ahp03.SessionToolCallConfirmedAction;
  }
  if (pending) return pending === 'changed' ? { untranslatable: CALL_CHANGED } : undefined;
  return { ...rest, type: 'session/toolCallReady', ...toolInputDown(toolInput) } as Ahp03.SessionToolCallReadyAction;
}

function toolCallConfirmed({ type, ...rest }: Ahp1.ChatToolCallConfirmedAction): DownAction {
  if (rest.approved) return { ...rest, type: 'session/toolCallConfirmed' };
  const { userSuggestion, ...denial } = rest;
  const advice = userSuggestion && { userSuggestion: messageDown(userSuggestion) };
  return { ...denial, type: 'session/toolCallConfirmed', ...advice };
}

const messageTranslators = {
  'chat/pendingMessageSet': ({ kind, id, message }) => ({
    type: 'session/pendingMessageSet',
    kind,
    id,
    userMessage: messageDown(message),
  }),
  'chat/pendingMessageRemoved': ({ kind, id }) => ({ type: 'session/pendingMessageRemoved', kind, id }),
  'chat/queuedMessagesReordered': ({ order }) => ({ type: 'session/queuedMessagesReordered', order }),
  'chat/draftChanged': hidden,
  'chat/inputRequested': ({ request }) => ({ type: 'session/inputRequested', request }),
  'chat/inputAnswerChanged': ({ type, ...rest }) => ({ ...rest, type: 'session/inputAnswerChanged' }),
  'chat/inputCompleted': ({ type, ...rest }) => ({ ...rest, type: 'session/inputCompleted' }),
  'session/inputNeededSet': inputNeededSet,
  'session/inputNeededRemoved': inputNeededRemoved,
} satisfies Partial<Translators>;

/** Only questions outside of turns are sent here; the others came with the chat. */
function inputNeededSet(action: Ahp1.SessionInputNeededSetAction & WithPrivateMembers): DownAction {
  const { request } = action;
  const hasRequest = privateMembersOf(action).shown || standingRequestId(request.id) === undefined;
  return hasRequest || request.kind !== 'chatInput'
    ? undefined
    : { type: 'session/inputRequested', request: request.request };
}

function inputNeededRemoved(action: Ahp1.SessionInputNeededRemovedAction & WithPrivateMembers): DownAction {
  const requestId = standingRequestId(action.id);
  if (requestId === undefined || privateMembersOf(action).shown) return undefined;
  return { type: 'session/inputCompleted', requestId, response: 'cancel' };
}

/** Changes of a chat outside its conversation are not shown. */
const chatTranslators = {
  'chat/activityChanged': hidden,
  'chat/workingDirectorySet': hidden,
  'chat/workingDirectoryRemoved': hidden,
  'chat/isReadChanged': hidden,
  'chat/isArchivedChanged': hidden,
  'chat/backgroundWorkSet': hidden,
  'chat/backgroundWorkRemoved': hidden,
  'chat/movableChanged': hidden,
  'chat/changesetsChanged': hidden,
  'chat/canvasesChanged': hidden,
} satisfies Partial<Translators>;

const sessionTranslators = {
  'session/ready': same,
  'session/creationFailed': same,
  'session/chatAdded': hidden,
  'session/chatRemoved': hidden,
  'session/chatUpdated': hidden,
  'session/chatsReordered': hidden,
  'session/defaultChatChanged': untranslatable('Another chat is the default one: reconnect for a snapshot.'),
  'session/titleChanged': same,
  'session/isReadChanged': same,
  'session/isArchivedChanged': same,
  'session/activityChanged': same,
  'session/changesetsChanged': ({ type, changesets }) => ({
    type,
    ...(changesets && { changesets: changesets.map(changesetEntryDown) }),
  }),
  'session/serverToolsChanged': same,
  'session/activeClientSet': activeClient,
  'session/activeClientRemoved': activeClient,
  'session/workingDirectorySet': workingDirectory,
  'session/workingDirectoryRemoved': workingDirectory,
  'session/workingDirectoryReplaced': workingDirectory,
  'session/customizationsChanged': ({ type, customizations }) => ({
    type,
    customizations: customizations.map(customizationDown),
  }),
  'session/customizationToggled': ({ type, id, enablement }) => ({ type, id, enabled: enabledDown(enablement) }),
  'session/customizationUpdated': ({ type, customization }) => ({
    type,
    customization: customizationDown(customization),
  }),
  'session/customizationRemoved': same,
  'session/mcpServerStateChanged': serverChanged,
  'session/mcpServerStartRequested': serverChanged,
  'session/mcpServerStopRequested': serverChanged,
  'session/mcpServerBackgroundRequested': serverChanged,
  'session/configChanged': same,
  'session/metaChanged': metaChanged,
} satisfies Partial<Translators>;

function serverChanged(action: object): DownAction {
  const { entry } = privateMembersOf(action);
  return entry && { type: 'session/customizationUpdated', customization: customizationDown(entry) };
}

function activeClient(action: object): DownAction {
  const { activeClient: shown, onlyTools } = privateMembersOf(action);
  if (shown === undefined) return undefined;
  if (shown && onlyTools) return { type: 'session/activeClientToolsChanged', tools: shown.tools };
  return { type: 'session/activeClientChanged', activeClient: shown && activeClientDown(shown) };
}

function workingDirectory(action: object): DownAction {
  if (privateMembersOf(action).primary === undefined) return undefined;
  return {
    untranslatable: 'The session works in another folder, which 0.3.0 cannot express: reconnect for a snapshot.',
  };
}

function metaChanged(action: Ahp1.SessionMetaChangedAction & WithPrivateMembers): DownAction {
  const { selected } = privateMembersOf(action);
  if (!selected) {
    const meta = metaDown(action._meta ?? undefined);
    return { type: 'session/metaChanged', ...(meta && { _meta: meta }) };
  }
  if ('model' in selected) return { type: 'session/modelChanged', model: modelDown(selected.model) };
  return { type: 'session/agentChanged', ...(selected.agent && { agent: selected.agent }) };
}

const otherTranslators = {
  'root/agentsChanged': ({ type, agents }) => ({ type, agents: agents.map(agentDown) }),
  'root/activeSessionsChanged': same,
  'root/terminalsChanged': ({ type, terminals }) => ({ type, terminals: terminals.map(terminalInfoDown) }),
  'root/configChanged': same,
  'terminal/data': same,
  'terminal/input': same,
  'terminal/resized': same,
  'terminal/claimed': ({ type, claim }) => ({ type, claim: claimDown(claim) }),
  'terminal/titleChanged': same,
  'terminal/cwdChanged': same,
  'terminal/exited': same,
  'terminal/cleared': same,
  'terminal/commandDetectionAvailable': same,
  'terminal/commandExecuted': same,
  'terminal/commandFinished': same,
  'changeset/statusChanged': same,
  'changeset/fileSet': ({ type, file }) => ({ type, file: fileDown(file) }),
  'changeset/fileRemoved': same,
  'changeset/filesReviewChanged': hidden,
  'changeset/contentChanged': untranslatable('All changes were replaced at once: reconnect for a snapshot.'),
  'changeset/operationsChanged': ({ type, operations }) => ({
    type,
    ...(operations && { operations: operations.map(operationDown) }),
  }),
  'changeset/operationStatusChanged': hidden,
  'changeset/cleared': same,
  'resourceWatch/changed': same,
} satisfies Partial<Translators>;

/** Channels that 0.3.0 lacks. */
const foreignTranslators = {
  'annotations/set': hidden,
  'annotations/updated': hidden,
  'annotations/removed': hidden,
  'annotations/entrySet': hidden,
  'annotations/entryRemoved': hidden,
  'automation/createRequested': hidden,
  'automation/updateRequested': hidden,
  'automation/removed': hidden,
  'automation/set': hidden,
  'automationRun/cancelRequested': hidden,
  'automationRun/lifecycleChanged': hidden,
  'automationRun/sessionSet': hidden,
  'automationRun/sessionRemoved': hidden,
  'automationRun/primarySessionChanged': hidden,
  'canvas/stateChanged': hidden,
} satisfies Partial<Translators>;

/** The type makes the table exhaustive: a new action does not compile until its author decides what 0.3.0 gets. */
const translators: Translators = {
  ...streamTranslators,
  ...turnTranslators,
  ...toolCallTranslators,
  ...messageTranslators,
  ...chatTranslators,
  ...sessionTranslators,
  ...otherTranslators,
  ...foreignTranslators,
};

const byType: ReadonlyMap<string, unknown> = new Map(Object.entries(translators));

/** Translates an action. A type that the model does not know is not shown. */
export function actionDown(action: { readonly type: string }): DownAction {
  const translate = byType.get(action.type) as Translator<object> | undefined;
  return translate?.(action as WithPrivateMembers);
}

export function isUntranslatable(down: DownAction): down is Untranslatable {
  return down !== undefined && 'untranslatable' in down;
}
