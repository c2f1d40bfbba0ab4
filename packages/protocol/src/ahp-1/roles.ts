/**
 * The least role for every request, notification and dispatched action of clients, in terms of the internal model:
 * every dialect is translated before the host looks here. What is missing in a table is for the owner only.
 */
import { hasRole, type Role } from './access.js';
import type { ChannelKind } from './channels.js';
import { SELECTION_CHANGED } from './private-members.js';
import { MODE_PROPERTY, type PermissionMode } from './session/permissions.js';

/**
 * How a request is kept within the bounds of its sender. `free`: it concerns nothing that could be out of bounds.
 * `handler`: its handler checks the bounds. `whole`: only senders without bounds may send it. A list: these parameters
 * name sessions, chats or other channels, and one that is out of bounds is answered like one that does not exist.
 */
export type BoundsRule = 'free' | 'handler' | 'whole' | readonly string[];

export interface RequestRule {
  readonly least: Role;
  readonly bounds: BoundsRule;
}

const free = (least: Role): RequestRule => ({ least, bounds: 'free' });
const handler = (least: Role): RequestRule => ({ least, bounds: 'handler' });
const whole = (least: Role): RequestRule => ({ least, bounds: 'whole' });
const named = (least: Role, ...bounds: string[]): RequestRule => ({ least, bounds });

export const REQUEST_RULES: Readonly<Record<string, RequestRule>> = {
  initialize: handler('viewer'),
  reconnect: handler('viewer'),
  ping: free('viewer'),
  subscribe: handler('viewer'),
  listSessions: handler('viewer'),
  fetchTurns: named('viewer', 'channel'),
  /** Contents that the host itself names, such as long outputs. Files need a driver: see `leastForRequest`. */
  resourceRead: handler('viewer'),
  'atrium/search': handler('viewer'),
  'atrium/instructions': named('viewer', 'channel'),
  /** Each credential has its own receivers, and is told only of what it sees. */
  'atrium/notifications': handler('viewer'),
  'atrium/setReceiver': handler('viewer'),
  'atrium/removeReceiver': handler('viewer'),
  'atrium/testReceiver': handler('viewer'),
  'atrium/view': handler('viewer'),

  createSession: handler('driver'),
  createChat: named('driver', 'channel'),
  createTerminal: handler('driver'),
  disposeTerminal: named('driver', 'channel'),
  resourceWrite: handler('driver'),
  resourceList: handler('driver'),
  resourceCopy: handler('driver'),
  resourceDelete: handler('driver'),
  resourceMove: handler('driver'),
  resourceResolve: handler('driver'),
  resourceMkdir: handler('driver'),
  resourceRequest: whole('driver'),
  createResourceWatch: handler('driver'),
  resolveSessionConfig: handler('driver'),
  sessionConfigCompletions: handler('driver'),
  completions: named('driver', 'channel'),
  'atrium/completions': handler('driver'),
  invokeChangesetOperation: named('driver', 'channel'),
  'atrium/attach': free('driver'),
  /** A connection can stop only its own requests. */
  'atrium/cancelWork': free('driver'),
  'atrium/pinSession': named('driver', 'channel'),
  'atrium/lastChoice': whole('driver'),
  'atrium/projects': whole('driver'),
  'atrium/board': whole('driver'),
  'atrium/compareBranches': whole('driver'),
  'atrium/branchAction': whole('driver'),
  'atrium/proposeCommit': named('driver', 'session'),
  'atrium/pullRequest': named('driver', 'session'),
  'atrium/rewind': named('driver', 'channel'),
  'atrium/rewindPreview': named('driver', 'channel'),
  'atrium/undoRewind': named('driver', 'channel'),
  'atrium/permissions': whole('driver'),
  'atrium/testPermission': whole('driver'),
  'atrium/usage': whole('driver'),
  'atrium/budgets': named('driver', 'session'),
};

export const NOTIFICATION_RULES: Readonly<Record<string, Role>> = {
  unsubscribe: 'viewer',
  /** Each action has its own role. */
  dispatchAction: 'viewer',
};

export const ACTION_RULES: Readonly<Record<string, Role>> = {
  'chat/toolCallConfirmed': 'approver',
  'chat/toolCallResultConfirmed': 'approver',
  'chat/inputAnswerChanged': 'approver',
  'chat/inputCompleted': 'approver',
  'chat/isReadChanged': 'approver',
  'session/isReadChanged': 'approver',

  'session/titleChanged': 'driver',
  'session/isArchivedChanged': 'driver',
  'session/activeClientSet': 'driver',
  'session/activeClientRemoved': 'driver',
  'session/workingDirectorySet': 'driver',
  'session/workingDirectoryRemoved': 'driver',
  'session/workingDirectoryReplaced': 'driver',
  'session/customizationToggled': 'driver',
  'session/mcpServerStartRequested': 'driver',
  'session/mcpServerStopRequested': 'driver',
  'session/mcpServerBackgroundRequested': 'driver',
  'session/configChanged': 'driver',
  [SELECTION_CHANGED]: 'driver',
  'chat/turnStarted': 'driver',
  'chat/turnCancelled': 'driver',
  'chat/turnResume': 'driver',
  'chat/toolCallComplete': 'driver',
  'chat/toolCallContentChanged': 'driver',
  'chat/pendingMessageSet': 'driver',
  'chat/pendingMessageRemoved': 'driver',
  'chat/queuedMessagesReordered': 'driver',
  'chat/draftChanged': 'driver',
  'chat/truncated': 'driver',
  'chat/workingDirectorySet': 'driver',
  'chat/workingDirectoryRemoved': 'driver',
  'chat/isArchivedChanged': 'driver',
  'changeset/filesReviewChanged': 'driver',
  'annotations/set': 'driver',
  'annotations/updated': 'driver',
  'annotations/removed': 'driver',
  'annotations/entrySet': 'driver',
  'annotations/entryRemoved': 'driver',
  'terminal/input': 'driver',
  'terminal/resized': 'driver',
  'terminal/claimed': 'driver',
  'terminal/titleChanged': 'driver',
  'terminal/cleared': 'driver',
};

/** Who may subscribe to a kind of channel. Only the owner may subscribe to what the host reports about itself. */
export const CHANNEL_RULES: { readonly [Kind in ChannelKind]: Role } = {
  root: 'viewer',
  session: 'viewer',
  chat: 'viewer',
  annotations: 'viewer',
  changeset: 'viewer',
  terminal: 'viewer',
  canvas: 'viewer',
  automation: 'viewer',
  automationRun: 'viewer',
  resourceWatch: 'driver',
  otlp: 'owner',
  mcp: 'owner',
};

/** The session setting with which its tools run without asking. */
export const AUTO_APPROVE = 'autoApprove';

type Members = Readonly<Record<string, unknown>>;

/** The rule for a method. One that is missing in the table is for the owner, without bounds. */
export function ruleForRequest(method: string): RequestRule {
  return (Object.hasOwn(REQUEST_RULES, method) ? REQUEST_RULES[method] : undefined) ?? whole('owner');
}

/** The least role for a request with these parameters. */
export function leastForRequest(method: string, params: Members): Role {
  const { least } = ruleForRequest(method);
  if (method === 'resourceRead' && !isHostContent(params.uri)) return highest(least, 'driver');
  if (method === 'createSession' && asksNobody(params.config)) return 'owner';
  return least;
}

export function leastForNotification(method: string): Role {
  return (Object.hasOwn(NOTIFICATION_RULES, method) ? NOTIFICATION_RULES[method] : undefined) ?? 'owner';
}

/** The least role for an action, judged by the action alone. Some need more: the channel says so. */
export function leastForAction(action: { readonly type: string }): Role {
  const least = (Object.hasOwn(ACTION_RULES, action.type) ? ACTION_RULES[action.type] : undefined) ?? 'owner';
  const { editedToolInput, userSuggestion, confirmed, config, replace } = action as Members;
  if (action.type === 'chat/toolCallConfirmed') {
    // An edited input runs, and a suggestion reaches the agent as a message.
    if (confirmed === 'setting') return 'owner';
    return editedToolInput === undefined && userSuggestion === undefined ? least : 'driver';
  }
  // Running tools without asking means allowing all of them, always.
  if (action.type === 'session/configChanged' && (replace === true || asksNobody(config))) return 'owner';
  return least;
}

export function highest(one: Role, other: Role): Role {
  return hasRole(one, other) ? one : other;
}

/** True for contents of sessions that the host names by a URI of its own; everything else is a file. */
export function isHostContent(uri: unknown): boolean {
  return typeof uri === 'string' && /^atrium-[a-z]+:/.test(uri);
}

/** Modes in which a person is asked about everything that makes changes. */
const ASKING_MODES: ReadonlySet<unknown> = new Set<PermissionMode>(['plan', 'ask']);

/** True for a configuration with which something could run that nobody was asked about. */
function asksNobody(config: unknown): boolean {
  if (typeof config !== 'object' || config === null) return false;
  if (AUTO_APPROVE in config) return true;
  return MODE_PROPERTY in config && !ASKING_MODES.has(config[MODE_PROPERTY]);
}
