/** Messages that wait: one that steers the running turn, and a queue for the turns to come. */
import { withElement, withMembers } from '../../reducing.js';
import type { PendingMessage } from '../state/pending-message.js';
import type { SessionState } from '../state/session-state.js';
import type { SessionHandlers } from './family.js';

export const pendingMessageHandlers: SessionHandlers<
  'session/pendingMessageSet' | 'session/pendingMessageRemoved' | 'session/queuedMessagesReordered'
> = {
  'session/pendingMessageSet': (state, { kind, id, userMessage }) => {
    const message = { id, userMessage };
    if (kind === 'steering') return { ...state, steeringMessage: message };
    return { ...state, queuedMessages: withQueued(state.queuedMessages ?? [], message) };
  },

  'session/pendingMessageRemoved': (state, { kind, id }) => {
    if (kind === 'steering') {
      return state.steeringMessage?.id === id ? { ...state, steeringMessage: undefined } : state;
    }
    return state.queuedMessages?.some((message) => message.id === id) ? withoutQueued(state, id) : state;
  },

  'session/queuedMessagesReordered': (state, { order }) =>
    state.queuedMessages ? withMembers(state, { queuedMessages: reordered(state.queuedMessages, order) }) : state,
};

function withQueued(queue: PendingMessage[], message: PendingMessage): PendingMessage[] {
  const index = queue.findIndex(({ id }) => id === message.id);
  return index < 0 ? [...queue, message] : withElement(queue, index, message);
}

/** The queue without a message. An empty queue is no queue. */
export function withoutQueued(state: SessionState, id: string): SessionState {
  const left = state.queuedMessages?.filter((message) => message.id !== id);
  return { ...state, queuedMessages: left?.length ? left : undefined };
}

/** The named ones first, in the order given; unknown and repeated names are skipped, the rest keep their order. */
function reordered(queue: PendingMessage[], order: string[]): PendingMessage[] {
  const named = [...new Set(order)].flatMap((id) => queue.find((message) => message.id === id) ?? []);
  const rest = queue.filter((message) => !named.includes(message));
  const result = [...named, ...rest];
  return result.every((message, index) => message === queue[index]) ? queue : result;
}
