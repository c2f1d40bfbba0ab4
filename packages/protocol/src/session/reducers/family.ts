/** The shape of one family of session actions. */
import type { Handlers } from '../../reducing.js';
import type { SessionActionMap, SessionActionType } from '../actions.js';
import type { SessionState } from '../state/session-state.js';

export type SessionHandlers<Types extends SessionActionType> = Handlers<SessionState, Pick<SessionActionMap, Types>>;
