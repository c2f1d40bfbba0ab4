/** The summary of a session, as lists show it: made from its state and the states of its chats. */
import {
  ACTIVITY_MASK,
  type ChatState,
  type ChatSummary,
  type ChatSummaryChanges,
  REWIND_META_KEY,
  type SessionState,
  SessionStatus,
  type SessionSummary,
  withPlanProgress,
  withRewound,
} from '@atrium/protocol/ahp-1';

/** What identifies a session, and what only its summary has. */
export interface SummaryFacts {
  readonly resource: string;
  readonly createdAt: string;
  readonly modifiedAt: string;
}

export function summaryOf(state: SessionState, chats: readonly ChatState[], facts: SummaryFacts): SessionSummary {
  const {
    provider,
    title,
    activity,
    origin,
    project,
    workingDirectories,
    annotations,
    changesets,
    _meta,
    defaultChat,
  } = state;
  // Lists do not show that the session was rewound.
  const meta = withPlanProgress(_meta?.[REWIND_META_KEY] ? withRewound(_meta, undefined) : _meta, defaultChat);
  return {
    ...facts,
    provider,
    title,
    status: statusOf(state, chats),
    ...(activity !== undefined && { activity }),
    ...(origin && { origin }),
    ...(project && { project }),
    ...(workingDirectories && { workingDirectories }),
    ...(annotations && { annotations }),
    ...(meta && { _meta: meta }),
    ...(changesets && { 'x-atrium': { changesets } }),
    ...(state.chats.length > 1 && {
      chats: state.chats.map(({ resource, title, origin, interactivity, status }) => ({
        resource,
        title,
        status,
        ...(origin && { origin }),
        ...(interactivity && { interactivity }),
      })),
    }),
    ...(defaultChat !== undefined && { defaultChat }),
  };
}

/** The status follows the default chat, but needed input and errors of any chat always show. */
function statusOf(state: SessionState, chats: readonly ChatState[]): number {
  const flags = state.status & ~ACTIVITY_MASK;
  const main = chats.find(({ resource }) => resource === state.defaultChat) ?? chats[0];
  const activities = chats.map(({ status }) => status & ACTIVITY_MASK);
  const own = state.status & ACTIVITY_MASK;
  if (own === SessionStatus.InputNeeded || activities.includes(SessionStatus.InputNeeded))
    return flags | SessionStatus.InputNeeded;
  if (activities.includes(SessionStatus.Error)) return flags | SessionStatus.Error;
  return flags | (main ? main.status & ACTIVITY_MASK : SessionStatus.Idle);
}

/** Members of a chat that its session lists, too. */
const LISTED = [
  'title',
  'status',
  'activity',
  'modifiedAt',
  'changes',
  'origin',
  'movable',
  'interactivity',
  'workingDirectories',
] as const;

type Listed = Pick<ChatState, (typeof LISTED)[number]>;

/** The changes of a chat that its session lists; undefined when there are none. */
export function listedChanges(before: Listed, after: Listed): ChatSummaryChanges | undefined {
  if (!LISTED.some((member) => before[member] !== after[member])) return undefined;
  const changed = LISTED.filter((member) => before[member] !== after[member]);
  return Object.fromEntries(changed.map((member) => [member, after[member] ?? null]));
}

/** A chat as its session lists it. */
export function chatSummaryOf(chat: ChatState): ChatSummary {
  const { resource } = chat;
  const listed = LISTED.filter((member) => chat[member] !== undefined).map((member) => [member, chat[member]]);
  return { resource, ...Object.fromEntries(listed) } as ChatSummary;
}
