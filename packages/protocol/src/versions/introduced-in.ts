/**
 * The version that introduced each message. The types make the tables exhaustive: a new message does not compile until
 * its author names the version.
 */
import type { ActionType } from '../actions.js';
import type { HostNotificationMethod, HostRequestMethod } from '../methods.js';
import { isIntroduced } from './versions.js';

export type IntroducedIn = '0.1.0' | '0.2.0' | '0.3.0';

export const ACTION_INTRODUCED_IN: { readonly [Type in ActionType]: IntroducedIn } = {
  'root/agentsChanged': '0.1.0',
  'root/activeSessionsChanged': '0.1.0',
  'root/terminalsChanged': '0.1.0',
  'root/configChanged': '0.1.0',
  'session/ready': '0.1.0',
  'session/creationFailed': '0.1.0',
  'session/turnStarted': '0.1.0',
  'session/delta': '0.1.0',
  'session/responsePart': '0.1.0',
  'session/toolCallStart': '0.1.0',
  'session/toolCallDelta': '0.1.0',
  'session/toolCallReady': '0.1.0',
  'session/toolCallConfirmed': '0.1.0',
  'session/toolCallComplete': '0.1.0',
  'session/toolCallResultConfirmed': '0.1.0',
  'session/toolCallContentChanged': '0.1.0',
  'session/turnComplete': '0.1.0',
  'session/turnCancelled': '0.1.0',
  'session/error': '0.1.0',
  'session/titleChanged': '0.1.0',
  'session/usage': '0.1.0',
  'session/reasoning': '0.1.0',
  'session/modelChanged': '0.1.0',
  'session/agentChanged': '0.2.0',
  'session/serverToolsChanged': '0.1.0',
  'session/activeClientChanged': '0.1.0',
  'session/activeClientToolsChanged': '0.1.0',
  'session/pendingMessageSet': '0.1.0',
  'session/pendingMessageRemoved': '0.1.0',
  'session/queuedMessagesReordered': '0.1.0',
  'session/inputRequested': '0.1.0',
  'session/inputAnswerChanged': '0.1.0',
  'session/inputCompleted': '0.1.0',
  'session/customizationsChanged': '0.1.0',
  'session/customizationToggled': '0.1.0',
  'session/customizationUpdated': '0.1.0',
  'session/customizationRemoved': '0.2.0',
  'session/truncated': '0.1.0',
  'session/isReadChanged': '0.1.0',
  'session/isArchivedChanged': '0.1.0',
  'session/activityChanged': '0.1.0',
  'session/changesetsChanged': '0.2.0',
  'session/configChanged': '0.1.0',
  'session/metaChanged': '0.1.0',
  'changeset/statusChanged': '0.2.0',
  'changeset/fileSet': '0.2.0',
  'changeset/fileRemoved': '0.2.0',
  'changeset/operationsChanged': '0.2.0',
  'changeset/cleared': '0.2.0',
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
  'resourceWatch/changed': '0.2.0',
};

export const NOTIFICATION_INTRODUCED_IN: { readonly [Method in HostNotificationMethod]: IntroducedIn } = {
  action: '0.1.0',
  'root/sessionAdded': '0.1.0',
  'root/sessionRemoved': '0.1.0',
  'root/sessionSummaryChanged': '0.1.0',
  'auth/required': '0.1.0',
  'otlp/exportLogs': '0.2.0',
  'otlp/exportTraces': '0.2.0',
  'otlp/exportMetrics': '0.2.0',
};

/** Requests that the host sends. Upstream gives them no versions; 0.2.0 is the lowest that we speak. */
export const SERVER_COMMAND_INTRODUCED_IN: { readonly [Method in HostRequestMethod]: IntroducedIn } = {
  resourceRead: '0.2.0',
  resourceWrite: '0.2.0',
  resourceList: '0.2.0',
  resourceCopy: '0.2.0',
  resourceDelete: '0.2.0',
  resourceMove: '0.2.0',
  resourceResolve: '0.2.0',
  resourceMkdir: '0.2.0',
  resourceRequest: '0.2.0',
  createResourceWatch: '0.2.0',
  systemMessageTransform: '0.3.0',
};

/** True when a peer of this version knows the action. An action that is unknown here is passed on. */
export function isActionKnown(type: string, version: string): boolean {
  return isKnown(ACTION_INTRODUCED_IN, type, version);
}

export function isNotificationKnown(method: string, version: string): boolean {
  return isKnown(NOTIFICATION_INTRODUCED_IN, method, version);
}

export function isServerCommandKnown(method: string, version: string): boolean {
  return isKnown(SERVER_COMMAND_INTRODUCED_IN, method, version);
}

function isKnown(table: Readonly<Record<string, IntroducedIn>>, name: string, version: string): boolean {
  const since = Object.hasOwn(table, name) ? table[name] : undefined;
  return since === undefined || isIntroduced(since, version);
}
