/** The states of a provider connection, and what a provider may send in each. Moving between them is the gateway's. */
import { TO_GATEWAY_TYPES, type ToGatewayMessageType } from './message-types.js';

/** In the order of a connection's life; `AwaitPairing` is for external providers only. */
export const CONNECTION_STATES = [
  'Connected',
  'AwaitAuth',
  'AwaitPairing',
  'AwaitHello',
  'Bound',
  'Rebinding',
  'Unbound',
  'Disconnected',
] as const;
export type ConnectionState = (typeof CONNECTION_STATES)[number];

/** What becomes of a message that is not legal: answered with an error, kept for the next state, or dropped. */
export type IllegalMessageFate = 'refuse' | 'hold' | 'ignore';

export interface ConnectionStateRule {
  readonly legal: ReadonlySet<ToGatewayMessageType>;
  readonly otherwise: IllegalMessageFate;
}

export const CONNECTION_STATE_RULES = {
  // A moment only: the gateway is still finding out over which transport, and so with which trust, this one came.
  Connected: { legal: only(), otherwise: 'hold' },
  AwaitAuth: { legal: only('auth'), otherwise: 'refuse' },
  AwaitPairing: { legal: only('auth.confirm'), otherwise: 'refuse' },
  AwaitHello: { legal: only('hello'), otherwise: 'refuse' },
  Bound: { legal: only(...TO_GATEWAY_TYPES), otherwise: 'refuse' },
  // Messages that arrive meanwhile are handled in the state that follows.
  Rebinding: { legal: only(), otherwise: 'hold' },
  Unbound: { legal: only('hello', 'goodbye'), otherwise: 'refuse' },
  Disconnected: { legal: only(), otherwise: 'ignore' },
} as const satisfies Record<ConnectionState, ConnectionStateRule>;

/** Whether a provider may send a message of this type now. */
export function isLegalIn(state: ConnectionState, type: ToGatewayMessageType): boolean {
  return CONNECTION_STATE_RULES[state].legal.has(type);
}

function only(...types: readonly ToGatewayMessageType[]): ReadonlySet<ToGatewayMessageType> {
  return new Set(types);
}
