/** Holds what sessions say of their chats against the chats, and workers against the calls that started them. */
import {
  type ChatState,
  type ChatSummary,
  channelKind,
  type SessionState,
  type Snapshot,
} from '@atrium/protocol/ahp-1';

/** The chats that sessions list beside their default ones. */
export function furtherChatsIn(snapshots: readonly Snapshot[]): ChatSummary[] {
  return snapshots.flatMap(({ resource, state }) => {
    if (channelKind(resource) !== 'session') return [];
    const { chats, defaultChat } = state as SessionState;
    return chats.filter((chat) => chat.resource !== defaultChat);
  });
}

/** Every chat that is listed is there, as it is listed; none is there that is not. */
export function listProblems(listed: readonly ChatSummary[], found: readonly Snapshot[]): string[] {
  const states = new Map(found.map(({ resource, state }) => [resource, state as ChatState]));
  const names = new Set(listed.map(({ resource }) => resource));
  const loose = [...states.keys()]
    .filter((uri) => !names.has(uri))
    .map((uri) => `${uri} is there, but no session has it`);
  return [...loose, ...listed.flatMap((summary) => problemsOf(summary, states.get(summary.resource)))];
}

function problemsOf(summary: ChatSummary, state: ChatState | undefined): string[] {
  const { resource, title, status, modifiedAt } = summary;
  if (!state) return [`${resource} is listed, but not there`];
  const isSame = state.title === title && state.status === status && state.modifiedAt === modifiedAt;
  const wrong = isSame ? [] : [`${resource} is listed as ${JSON.stringify(summary)}, but is ${headOf(state)}`];
  const { origin, turns } = state;
  if (origin?.kind === 'fork' && !turns.some(({ id }) => id === origin.turnId))
    wrong.push(`${resource} lost what it was forked with: ${JSON.stringify(origin)}`);
  return wrong;
}

function headOf({ turns: _turns, ...head }: ChatState): string {
  return JSON.stringify(head);
}

/** A call says that its worker did it only when the worker did; a worker has one turn, and works for a call that is there. */
export function workerProblems(chats: ReadonlyMap<string, ChatState>): string[] {
  return [...chats.values()].flatMap((worker) => {
    const { origin, resource, turns } = worker;
    if (origin?.kind !== 'tool' || !('chat' in origin)) return [];
    const { chat, toolCallId } = origin as { readonly chat: string; readonly toolCallId: string };
    const parts = chats.get(chat)?.turns.flatMap(({ responseParts }) => responseParts) ?? [];
    const calls = parts.flatMap((part) => (part.kind === 'toolCall' ? part.toolCall : []));
    const call = calls.find((each) => each.toolCallId === toolCallId);
    if (!call) return [`${resource} works for call ${toolCallId} of ${chat}, which is not there`];
    if (turns.length !== 1) return [`${resource} has ${turns.length} turns`];
    const isDone = call.status === 'completed' && call.success;
    const [turn] = turns;
    return isDone && turn?.state !== 'complete' ? [`${resource} ended as ${turn?.state}, but its call is done`] : [];
  });
}
