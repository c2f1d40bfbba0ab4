/** The current registration of a provider: every `hello` carries it, also after changes and reconnects. */
import {
  PROVIDER_PROTOCOL_VERSION,
  type ProviderFilterRule,
  type ProviderHelloMessage,
  type ToGatewayMessage,
} from '@atrium/protocol/provider';
import { checkToGateway, describeProblem } from '@atrium/protocol/validation';
import { LocalErrorCode, ProviderError } from './errors.js';
import { hookRules, type Rules, type Transforms, wireTransforms } from './hooks.js';
import type { Settings } from './options.js';
import { subscriptions } from './session-events.js';
import { type Tools, toolDefinition } from './tools.js';

/**
 * A member that the author never gave is absent: a paired provider may not even send an empty context. A member that
 * was given once stays, if only empty, because a gateway restores the members that a returning provider leaves out.
 */
export interface Registration {
  readonly tools: Tools;
  readonly rules?: Rules;
  readonly transforms?: Transforms;
  readonly context?: string;
  /** By stream. The gateway forgets them with the connection, so they are set again. */
  readonly filters: Readonly<Record<string, readonly ProviderFilterRule[]>>;
}

export function registrationOf(settings: Settings): Registration {
  const { tools = {}, transforms, context, gates, deny, contextRules } = settings;
  const rules = { ...(gates && { gates }), ...(deny && { deny }), ...(contextRules && { contextRules }) };
  return {
    tools,
    filters: {},
    ...(Object.keys(rules).length > 0 && { rules }),
    ...(transforms && { transforms }),
    ...(context !== undefined && { context }),
  };
}

interface HelloFacts {
  readonly session: string | undefined;
  readonly reconnectToken: string | undefined;
}

export function helloOf(settings: Settings, registration: Registration, facts: HelloFacts): ProviderHelloMessage {
  const { name, instance, startupContext, metadata, concurrency, subscribe = [], on } = settings;
  const { tools, rules, transforms, context } = registration;
  const events = subscriptions(on, subscribe);
  const hooks = {
    ...(rules && { onPreToolUse: hookRules(rules) }),
    ...(transforms && { transforms: wireTransforms(transforms) }),
  };
  return {
    type: 'hello',
    name,
    protocolVersion: PROVIDER_PROTOCOL_VERSION,
    tools: Object.entries(tools).map(([tool, offer]) => toolDefinition(tool, offer)),
    ...(instance !== undefined && { instance }),
    ...(facts.session !== undefined && { session: facts.session }),
    ...(facts.reconnectToken !== undefined && { reconnectToken: facts.reconnectToken }),
    ...(Object.keys(hooks).length > 0 && { hooks }),
    ...(events.length > 0 && { subscribe: events }),
    ...(context !== undefined && { context }),
    ...(startupContext !== undefined && { startup_context: startupContext }),
    ...(metadata && { metadata }),
    ...(concurrency && { concurrency }),
  };
}

/** Throws to the author for a message that the gateway would refuse as malformed. */
export function checked<Message extends ToGatewayMessage>(message: Message): Message {
  const { ok, ...outcome } = checkToGateway(message);
  if (!ok && 'problem' in outcome)
    throw new ProviderError(LocalErrorCode.InvalidOptions, `${message.type}: ${describeProblem(outcome.problem)}`);
  return message;
}
