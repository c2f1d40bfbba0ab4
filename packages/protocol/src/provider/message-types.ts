/**
 * The types of all messages, without their schemas: a gateway or a provider that runs checks with generated validators,
 * and need not load the library that describes them.
 */
import type { Static } from 'typebox';
import type { toGatewayMessages, toProviderMessages } from './messages.js';

export type ToGatewayMessageType = keyof typeof toGatewayMessages;
export type ToGatewayMessageMap = { [Type in ToGatewayMessageType]: Static<(typeof toGatewayMessages)[Type]> };
export type ToGatewayMessage = ToGatewayMessageMap[ToGatewayMessageType];

export type ToProviderMessageType = keyof typeof toProviderMessages;
export type ToProviderMessageMap = { [Type in ToProviderMessageType]: Static<(typeof toProviderMessages)[Type]> };
export type ToProviderMessage = ToProviderMessageMap[ToProviderMessageType];

export const TO_GATEWAY_TYPES: readonly ToGatewayMessageType[] = [
  'auth',
  'auth.confirm',
  'hello',
  'goodbye',
  'session.ready',
  'tool.result',
  'tool.progress',
  'gate.result',
  'transform.result',
  'push',
  'tools.update',
  'hooks.update',
  'context.update',
  'filter.set',
  'stream.query',
  'shutdown.ready',
];

export const TO_PROVIDER_TYPES: readonly ToProviderMessageType[] = [
  'auth.pairing',
  'sessions',
  'sessions.updated',
  'hello.ack',
  'ack',
  'error',
  'tool.call',
  'tool.cancel',
  'gate.check',
  'transform.request',
  'session.event',
  'session.lifecycle',
  'stream.history',
];
