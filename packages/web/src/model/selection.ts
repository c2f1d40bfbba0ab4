/**
 * The model and the agent of the next message. The protocol names them on messages: what a person has chosen stands in the
 * draft. Until then it is what the session keeps, if its host keeps anything, else the model that was used last.
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

/** What a message without a model goes to: the first of its models, unless the agent chooses by itself. */
export function defaultModelText(agent: Pick<AgentInfo, 'models'> | undefined): string {
  const [first] = agent?.models ?? [];
  return first && first._meta?.[OWN_DEFAULT_META_KEY] !== true ? `Default: ${first.name}` : 'Default model';
}
