/**
 * Where messages of all versions contain names of sessions and chats. Renames them there and nowhere else, so that text
 * that only looks like a name stays unchanged.
 */
import { type Rewrite, type Rewritten, translatorOf } from '../upstream/delta.js';
import { isJson, type Json } from '../upstream/shapes.js';

/** Another name for the same thing. */
export type Rename = (uri: string) => string;

/** A rewrite of some members that are names, or lists of names. */
function names(...members: readonly string[]): Rewrite {
  return (value, { rename }) => (rename ? renamedIn(value, members, rename) : value);
}

function namesIf(member: string, values: readonly string[], ...members: readonly string[]): Rewrite {
  const rewrite = names(...members);
  return (value, surroundings) => (values.includes(String(value[member])) ? rewrite(value, surroundings) : value);
}

function renamedIn(value: Json, members: readonly string[], rename: Rename): Json {
  let copy: Record<string, unknown> | undefined;
  for (const member of members) {
    const before = value[member];
    const after = renamed(before, rename);
    if (after === before) continue;
    copy ??= { ...value };
    copy[member] = after;
  }
  return copy ?? value;
}

function renamed(value: unknown, rename: Rename): unknown {
  if (typeof value === 'string') return rename(value);
  if (!Array.isArray(value)) return value;
  const list = value.map((each) => renamed(each, rename));
  return list.some((each, index) => each !== value[index]) ? list : value;
}

const { translate } = translatorOf({
  // States
  SessionState: names('defaultChat'),
  SessionSummary: names('resource', 'defaultChat'),
  SessionSummaryChanges: names('defaultChat'),
  SessionChatSummary: names('resource'),
  AnnotationsSummary: names('resource'),
  ChatState: names('resource'),
  ChatSummary: names('resource'),
  ChatSummaryChanges: names('resource'),
  ChatOrigin: names('chat'),
  ChatSource: names('chat'),
  BackgroundWork: names('chat'),
  SessionInputRequest: names('chat'),
  Changeset: names('uriTemplate'),
  ContentRef: names('uri'),
  TerminalClaim: names('session', 'chat'),
  AnnotationOrigin: names('session', 'chat'),
  MessageAttachment: namesIf('type', ['chat', 'annotations'], 'resource'),
  ToolResultContent: namesIf('type', ['subagent'], 'resource'),
  AutomationRunState: names('sessions', 'primarySession'),
  Snapshot: names('resource'),

  // Actions and notifications
  'session/chatRemoved': names('chat'),
  'session/chatUpdated': names('chat'),
  'session/chatsReordered': names('chats'),
  'session/defaultChatChanged': names('defaultChat'),
  'automationRun/sessionSet': names('session'),
  'automationRun/sessionRemoved': names('session'),
  'automationRun/primarySessionChanged': names('session', 'primarySession'),
  'root/sessionRemoved': names('session'),
  'root/sessionSummaryChanged': names('session'),

  // Requests
  createChat: names('chat'),
  SessionFork: names('session'),
  MoveDestination: names('session'),
  resourceRead: names('uri'),
  resourceList: names('uri'),
  resourceResolve: names('uri'),
  resourceRequest: names('uri'),
  createResourceWatch: names('uri'),
  'reconnect:result': names('missing'),
  'moveChat:result': names('previousSession', 'previousChat', 'session', 'chat'),
});

/** Renames in a value of a named shape: a state, an action, the params or the result of a method. */
export function withNames(shape: string, value: unknown, rename: Rename): unknown {
  if (!isJson(value)) return value;
  const rewritten: Rewritten = translate(shape, value, { rename });
  return isJson(rewritten) ? rewritten : value;
}

/** The members with which a call says what it is about. */
export function addressed(params: Json, rename: Rename): Json {
  return renamedIn(params, ['channel', 'initialSubscriptions', 'subscriptions'], rename);
}

/** An envelope on a channel with another name. */
export function envelopeWithNames(params: Json, rename: Rename): Json {
  const { channel, action } = params;
  if (!isJson(action) || typeof action.type !== 'string') return renamedIn(params, ['channel'], rename);
  const shown = withNames(action.type, action, rename);
  const name = typeof channel === 'string' ? rename(channel) : channel;
  return shown === action && name === channel ? params : { ...params, channel: name, action: shown };
}
