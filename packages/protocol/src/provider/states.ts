/** The states of a provider connection, and the messages that are legal in each. The gateway makes the transitions. */
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

/** What happens to a message that is not legal: it is answered with an error, held for the next state, or dropped. */
export type IllegalMessageFate = 'refuse' | 'hold' | 'ignore';

export interface ConnectionStateRule {
  readonly legal: ReadonlySet<ToGatewayMessageType>;
  readonly otherwise: IllegalMessageFate;
}

export const CONNECTION_STATE_RULES = {
  // This state is short: the gateway determines the transport, and with it the trust level.
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
