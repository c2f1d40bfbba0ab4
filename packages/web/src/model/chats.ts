/** The chats of a session as a tree: each below the chat that it branches off from, or that started it. */
import type { AgentInfo, ChatSummary, SessionState } from '@atrium/protocol/ahp-1';
import { type Activity, activityOf } from './sessions.js';

export interface ChatRow {
  readonly chat: ChatSummary;
  /** 0 for chats that people opened. */
  readonly depth: number;
}

type Chats = Pick<SessionState, 'chats' | 'defaultChat'>;

/** The default chat first, every other one after its parent, in the order of the session. Leaves out hidden ones. */
export function chatRows({ chats, defaultChat }: Chats): readonly ChatRow[] {
  const shown = chats.filter(({ interactivity }) => interactivity !== 'hidden');
  const isShown = (uri: string | undefined) => shown.some(({ resource }) => resource === uri);
  const rows: ChatRow[] = [];
  const add = (chat: ChatSummary, depth: number) => {
    // A cycle of parents must not hang the page.
    if (rows.some((row) => row.chat === chat)) return;
    rows.push({ chat, depth });
    for (const child of shown) if (parentOf(child) === chat.resource) add(child, depth + 1);
  };
  const first = shown.find(({ resource }) => resource === defaultChat);
  if (first) add(first, 0);
  for (const chat of shown) if (!isShown(parentOf(chat))) add(chat, 0);
  for (const chat of shown) add(chat, 0);
  return rows;
}

/** The chat that it comes from; undefined if a person opened it. */
export function parentOf({ origin }: Pick<ChatSummary, 'origin'>): string | undefined {
  return origin && 'chat' in origin && typeof origin.chat === 'string' ? origin.chat : undefined;
}

/** The first chat of a session has no title of its own. */
export function chatTitle(
  { resource, title }: Pick<ChatSummary, 'resource' | 'title'>,
  session: Pick<SessionState, 'title' | 'defaultChat'>,
): string {
  return title || (resource === session.defaultChat ? session.title : '') || 'Untitled';
}

const KINDS: Readonly<Record<string, string>> = { fork: 'Fork', sideChat: 'Aside', tool: 'Worker' };

/** Its kind, in a word; undefined for an ordinary chat. */
export function chatKind({ origin }: Pick<ChatSummary, 'origin'>): string | undefined {
  return origin && KINDS[origin.kind];
}

export function isWritable({ interactivity = 'full' }: Pick<ChatSummary, 'interactivity'>): boolean {
  return interactivity === 'full';
}

/** The other chats that wait for a person. */
export function waitingElsewhere({ inputNeeded = [], chats }: SessionState, here: string): readonly ChatSummary[] {
  const asking = new Set(inputNeeded.filter(({ kind }) => kind !== 'toolClientExecution').map(({ chat }) => chat));
  return chats.filter(({ resource }) => resource !== here && asking.has(resource));
}

/** A session has the first of these that one of its chats has. A failure outside the first chat does not count. */
const URGENT_FIRST: readonly Activity[] = ['needs-you', 'working'];

/** The activity of a session. Its own status tells what waits and what was read, but not whether an agent works. */
export function sessionActivity(state: SessionState): Activity {
  const { chats, defaultChat, inputNeeded = [] } = state;
  if (inputNeeded.some(({ kind }) => kind !== 'toolClientExecution')) return 'needs-you';
  const activities = chats.map(activityOf);
  const first = chats.find(({ resource }) => resource === defaultChat) ?? chats[0] ?? state;
  return URGENT_FIRST.find((activity) => activities.includes(activity)) ?? activityOf(first);
}

interface ChatAbilities {
  /** Whether people may open more chats. */
  readonly several: boolean;
  readonly fork: boolean;
  readonly aside: boolean;
}

/** The abilities of a session's agent with chats. */
export function chatAbilities(
  { provider }: Pick<SessionState, 'provider'>,
  agents: readonly AgentInfo[],
): ChatAbilities {
  const ability = agents.find((agent) => agent.provider === provider)?.capabilities?.multipleChats;
  return { several: ability !== undefined, fork: ability?.fork === true, aside: ability?.sideChat === true };
}
