/** Turns and waiting messages. */
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

  'session/pendingMessageRemoved': ({ kind, id }, { state }) => {
    const waiting = kind === 'steering' ? [state.steeringMessage] : (state.queuedMessages ?? []);
    return waiting.some((message) => message?.id === id) ? undefined : `no ${kind} message ${id} is waiting`;
  },
};
