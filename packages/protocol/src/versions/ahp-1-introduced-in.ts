/**
 * The version that introduced each action and notification of AHP 1.0. The types make the tables exhaustive: a new one
 * does not compile until its author names the version.
 */

import type { ActionType } from '../ahp-1/actions.js';
import type { HostNotificationMethod } from '../ahp-1/methods.js';
import { isIntroduced } from './versions.js';

/**
 * The first version that knows an action. What came with upstream's 0.3.0 counts from 0.4.0 on: the number 0.3.0 is ours.
 * The registry of upstream dates some actions of 1.0.0 to 0.9.0, whose clients ignore them; here they say 1.0.0.
 */
export const ACTION_INTRODUCED_IN: { readonly [Type in ActionType]: string } = {
  'root/agentsChanged': '0.1.0',
  'root/activeSessionsChanged': '0.1.0',
  'root/terminalsChanged': '0.1.0',
  'root/configChanged': '0.1.0',
  'session/ready': '0.1.0',
  'session/creationFailed': '0.1.0',
  'session/chatAdded': '0.4.0',
  'session/chatRemoved': '0.4.0',
  'session/chatUpdated': '0.4.0',
  'session/chatsReordered': '1.0.0',
  'session/defaultChatChanged': '0.4.0',
  'session/titleChanged': '0.1.0',
  'session/isReadChanged': '0.1.0',
  'session/isArchivedChanged': '0.1.0',
  'session/activityChanged': '0.1.0',
  'session/changesetsChanged': '0.2.0',
  'session/serverToolsChanged': '0.1.0',
  'session/activeClientSet': '0.5.0',
  'session/activeClientRemoved': '0.5.0',
  'session/workingDirectorySet': '0.7.0',
  'session/workingDirectoryRemoved': '0.7.0',
  'session/workingDirectoryReplaced': '0.8.0',
  'session/inputNeededSet': '0.5.1',
  'session/inputNeededRemoved': '0.5.1',
  'session/customizationsChanged': '0.1.0',
  'session/customizationToggled': '0.1.0',
  'session/customizationUpdated': '0.1.0',
  'session/customizationRemoved': '0.2.0',
  'session/mcpServerStateChanged': '0.4.0',
  'session/mcpServerStartRequested': '0.5.2',
  'session/mcpServerStopRequested': '0.5.2',
  'session/mcpServerBackgroundRequested': '1.0.0',
  'session/configChanged': '0.1.0',
  'session/metaChanged': '0.1.0',
  'chat/turnStarted': '0.4.0',
  'chat/delta': '0.4.0',
  'chat/reasoning': '0.4.0',
  'chat/responsePart': '0.4.0',
  'chat/turnComplete': '0.4.0',
  'chat/turnCancelled': '0.4.0',
  'chat/error': '0.4.0',
  'chat/turnResume': '0.9.0',
  'chat/usage': '0.4.0',
  'chat/activityChanged': '0.5.0',
  'chat/toolCallStart': '0.4.0',
  'chat/toolCallDelta': '0.4.0',
  'chat/toolCallReady': '0.4.0',
  'chat/toolCallConfirmed': '0.4.0',
  'chat/toolCallComplete': '0.4.0',
  'chat/toolCallResultConfirmed': '0.4.0',
  'chat/toolCallContentChanged': '0.4.0',
  'chat/toolCallAuthRequired': '0.6.0',
  'chat/toolCallAuthResolved': '0.6.0',
  'chat/pendingMessageSet': '0.4.0',
  'chat/pendingMessageRemoved': '0.4.0',
  'chat/queuedMessagesReordered': '0.4.0',
  'chat/draftChanged': '0.5.0',
  'chat/inputRequested': '0.4.0',
  'chat/inputAnswerChanged': '0.4.0',
  'chat/inputCompleted': '0.4.0',
  'chat/truncated': '0.4.0',
  'chat/turnsLoaded': '0.5.1',
  'chat/workingDirectorySet': '0.7.0',
  'chat/workingDirectoryRemoved': '0.7.0',
  'chat/isReadChanged': '1.0.0',
  'chat/isArchivedChanged': '1.0.0',
  'chat/backgroundWorkSet': '1.0.0',
  'chat/backgroundWorkRemoved': '1.0.0',
  'chat/movableChanged': '1.0.0',
  'chat/changesetsChanged': '1.0.0',
  'chat/canvasesChanged': '1.0.0',
  'changeset/statusChanged': '0.2.0',
  'changeset/fileSet': '0.2.0',
  'changeset/fileRemoved': '0.2.0',
  'changeset/filesReviewChanged': '0.6.0',
  'changeset/contentChanged': '0.4.0',
  'changeset/operationsChanged': '0.2.0',
  'changeset/operationStatusChanged': '0.4.0',
  'changeset/cleared': '0.2.0',
  'annotations/set': '0.4.0',
  'annotations/updated': '0.4.0',
  'annotations/removed': '0.4.0',
  'annotations/entrySet': '0.4.0',
  'annotations/entryRemoved': '0.4.0',
  'terminal/data': '0.1.0',
  'terminal/input': '0.1.0',
  'terminal/resized': '0.1.0',
  'terminal/claimed': '0.1.0',
  'terminal/titleChanged': '0.1.0',
  'terminal/cwdChanged': '0.1.0',
  'terminal/exited': '0.1.0',
  'terminal/cleared': '0.1.0',
  'terminal/commandDetectionAvailable': '0.1.0',
  'terminal/commandExecuted': '0.1.0',
  'terminal/commandFinished': '0.1.0',
  'automation/createRequested': '0.8.0',
  'automation/updateRequested': '0.8.0',
  'automation/set': '0.8.0',
  'automation/removed': '0.8.0',
  'automationRun/cancelRequested': '0.8.0',
  'automationRun/lifecycleChanged': '0.8.0',
  'automationRun/sessionSet': '0.8.0',
  'automationRun/sessionRemoved': '0.8.0',
  'automationRun/primarySessionChanged': '0.8.0',
  'canvas/stateChanged': '1.0.0',
  'resourceWatch/changed': '0.2.0',
};

/** The first version that knows a notification of the host. */
export const NOTIFICATION_INTRODUCED_IN: { readonly [Method in HostNotificationMethod]: string } = {
  action: '0.1.0',
  'root/sessionAdded': '0.1.0',
  'root/sessionRemoved': '0.1.0',
  'root/sessionSummaryChanged': '0.1.0',
  'root/progress': '0.5.0',
  'auth/required': '0.1.0',
  'otlp/exportLogs': '0.2.0',
  'otlp/exportTraces': '0.2.0',
  'otlp/exportMetrics': '0.2.0',
};

/** True when a peer of this version knows the action. An action that is unknown here is passed on. */
export function isActionKnown(type: string, version: string): boolean {
  return isKnown(ACTION_INTRODUCED_IN, type, version);
}

export function isNotificationKnown(method: string, version: string): boolean {
  return isKnown(NOTIFICATION_INTRODUCED_IN, method, version);
}

function isKnown(table: Readonly<Record<string, string>>, name: string, version: string): boolean {
  const since = Object.hasOwn(table, name) ? table[name] : undefined;
  return since === undefined || isIntroduced(since, version);
}
