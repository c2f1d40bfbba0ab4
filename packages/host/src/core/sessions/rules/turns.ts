/** Turns and waiting messages. */
import type { PendingMessage, SessionState } from '@atrium/protocol';
import { GIVEN_TITLE_MAX_CHARACTERS, PENDING_MESSAGES_MAX, PENDING_MESSAGES_MAX_CHARACTERS } from '../../limits.js';
import type { Rules } from '../rules.js';

export const turnRules: Rules = {
  'session/turnStarted': ({ turnId }, { state }) => {
    if (turnId === '') return 'a turn needs an id';
    if (state.lifecycle === 'creationFailed') return 'the session could not be created; dispose it and create another';
    if (state.activeTurn) return `turn ${state.activeTurn.id} is running: queue the message, or wait`;
    return undefined;
  },

  'session/turnCancelled': ({ turnId }, { state }) => {
    if (!state.activeTurn) return 'no turn is running';
    return state.activeTurn.id === turnId ? undefined : `turn ${turnId} is not the one that is running`;
  },

  'session/pendingMessageSet': ({ kind, id, userMessage }, { state }) => {
    const others = waiting(state).filter((message) => message.id !== id);
    if (kind === 'queued' && others.length >= PENDING_MESSAGES_MAX) return `${others.length} messages wait already`;
    const size = [{ id, userMessage }, ...others].reduce((sum, message) => sum + sizeOf(message), 0);
    return size > PENDING_MESSAGES_MAX_CHARACTERS ? 'too much waits already: let the agent read some of it' : undefined;
  },

  'session/titleChanged': ({ title }) =>
    title.length > GIVEN_TITLE_MAX_CHARACTERS ? `a title may have ${GIVEN_TITLE_MAX_CHARACTERS} characters` : undefined,

  'session/pendingMessageRemoved': ({ kind, id }, { state }) => {
    const those = kind === 'steering' ? [state.steeringMessage] : (state.queuedMessages ?? []);
    return those.some((message) => message?.id === id) ? undefined : `no ${kind} message ${id} is waiting`;
  },
};

function waiting({ steeringMessage, queuedMessages = [] }: SessionState): PendingMessage[] {
  return steeringMessage ? [steeringMessage, ...queuedMessages] : [...queuedMessages];
}

/** A message that waits stays the same object, so that each is measured once. */
const sizes = new WeakMap<PendingMessage, number>();

function sizeOf(message: PendingMessage): number {
  const size = sizes.get(message) ?? JSON.stringify(message).length;
  sizes.set(message, size);
  return size;
}
