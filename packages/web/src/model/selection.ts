/**
 * The model and the agent of the next message. In the protocol messages name them, so a person's choice is part of the
 * draft.
 * Without a choice, the selection that the host stores for the session counts, else the model that was used last.
 */
import {
  type AgentInfo,
  type AgentSelection,
  type ChatState,
  type Message,
  type ModelSelection,
  OWN_DEFAULT_META_KEY,
  type SessionState,
  selectionOf,
} from '@atrium/protocol/ahp-1';

export interface Selection {
  readonly model?: ModelSelection | undefined;
  readonly agent?: AgentSelection | undefined;
}

type Kept = Pick<SessionState, '_meta'>;
type Said = Pick<ChatState, 'turns' | 'activeTurn'>;

export function selectionFor(draft: Selection, session: Kept, chat: Said): Selection {
  const kept = selectionOf(session._meta);
  const model = draft.model ?? kept.model ?? lastMessage(chat)?.model;
  const agent = draft.agent ?? kept.agent;
  return { ...(model && { model }), ...(agent && { agent }) };
}

function lastMessage({ turns, activeTurn }: Said): Message | undefined {
  return activeTurn?.message ?? turns.at(-1)?.message;
}

/** The model of a message that names none: the agent's first, unless the agent chooses by itself. */
export function defaultModelText(agent: Pick<AgentInfo, 'models'> | undefined): string {
  const [first] = agent?.models ?? [];
  return first && first._meta?.[OWN_DEFAULT_META_KEY] !== true ? `Default: ${first.name}` : 'Default model';
}
