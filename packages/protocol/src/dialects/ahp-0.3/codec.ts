/** AHP 0.3.0 is the internal model: everything passes unchanged. */

import type { ActionEnvelope } from '../../common/envelope.js';
import { SERVER_COMMAND_INTRODUCED_IN } from '../../versions/introduced-in.js';
import type { ActionFrame, Call, Dialect03, DialectConnection, InboundNotification, Params } from '../dialect-0.3.js';
import { AHP_0_3 } from './traits.js';

export const ahp03: Dialect03 = {
  traits: AHP_0_3,
  forConnection: () => ahp03,
  wireChannels: (channel) => [channel],
  channelOf: (wireChannel) => wireChannel,
  request: ({ method, params }, connection) => ({
    kind: 'forward',
    connection,
    method,
    params,
    encodeResult: (result) => result,
  }),
  notification: (call, connection) =>
    call.method === 'dispatchAction' ? dispatch(call.params, connection) : forward(call, connection),
  encodeError: (error) => error,
  encodeSnapshot: (snapshot) => snapshot,
  remember: (memory) => memory,
  encodeSteps: (memory, steps) => ({
    memory,
    frames: steps.map(({ envelope }) => actionFrame(envelope)),
  }),
  encodeEcho: (original, stamp) => ({ method: 'action', params: { ...original, ...stamp } }),
  encodeRejection: (original, stamp) => ({ method: 'action', params: { ...original, ...stamp } }),
  encodeNotification: (call) => call,
  canSend: (method) => Object.hasOwn(SERVER_COMMAND_INTRODUCED_IN, method),
};

function actionFrame(envelope: ActionEnvelope): ActionFrame {
  const { channel, origin } = envelope;
  return { method: 'action', params: envelope, channel, origin };
}

function forward({ method, params }: Call, connection: DialectConnection): InboundNotification {
  return { kind: 'forward', connection, method, params };
}

/** Translates a dispatched action. Without a channel and a number it cannot be answered, so it is dropped. */
function dispatch({ channel, clientSeq, action }: Params, connection: DialectConnection): InboundNotification {
  if (typeof channel !== 'string' || typeof clientSeq !== 'number') return { kind: 'ignore', connection };
  if (!isTyped(action)) {
    // The rejection repeats it exactly as it came: the client looks for it by its number.
    const original = { channel, action: action as { type: string } };
    return { kind: 'reject', connection, clientSeq, original, reason: 'an action is an object with a type' };
  }
  return { kind: 'dispatch', connection, channel, clientSeq, action, original: { channel, action } };
}

function isTyped(action: unknown): action is { readonly type: string } {
  return typeof action === 'object' && action !== null && 'type' in action && typeof action.type === 'string';
}
