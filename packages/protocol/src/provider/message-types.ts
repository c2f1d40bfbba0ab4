/**
 * The types of all messages, and the fixed sets of values in them, without schemas: at run time gateways and providers
 * use generated validators and do not load the schema library.
 */
import type { Static } from 'typebox';
import type { toGatewayMessages } from './messages-to-gateway.js';
import type { toProviderMessages } from './messages-to-provider.js';

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

/**
 * Let the call pass, block it, or let it pass with `reason` as extra context. No schema: on the wire, any other value
 * is legal, too, and counts as deny.
 */
export const GATE_DECISIONS = ['allow', 'deny', 'context'] as const;
export type ProviderGateDecision = (typeof GATE_DECISIONS)[number];

/**
 * The session events that a provider can subscribe to.
 * No schema: a subscription may name events of a later version, which never come.
 */
export const SESSION_EVENT_NAMES = [
  'user.message',
  'assistant.message',
  'tool.execution_complete',
  'assistant.intent',
] as const;
export type ProviderSessionEventName = (typeof SESSION_EVENT_NAMES)[number];

/** How a static transform changes a section of the system prompt. */
export const STATIC_TRANSFORM_ACTIONS = ['append', 'prepend', 'replace'] as const;
export type StaticTransformAction = (typeof STATIC_TRANSFORM_ACTIONS)[number];
