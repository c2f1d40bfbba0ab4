/**
 * What JSON Schema cannot express about a message, and how to read the fields that are lenient on purpose. Pure
 * functions on messages that have passed their schema; nothing here knows a connection or a session.
 */
import { GatewayErrorCode, ToolErrorCode } from './error-codes.js';
import { PROVIDER_PROTOCOL_VERSION } from './limits.js';
import { GATE_DECISIONS, type ProviderGateDecision, type ToGatewayMessageType } from './message-types.js';
import type {
  ProviderAuthMessage,
  ProviderGateResultMessage,
  ProviderToolResultMessage,
  ProviderTransformResultMessage,
} from './messages-to-gateway.js';
import type { ProviderFileReference } from './parts.js';

/** A message fits its schema but breaks a rule. Answer with `code` and `replyTo`; the message says how to fix it. */
export class ProviderRuleError extends Error {
  override readonly name = 'ProviderRuleError';
  readonly code = GatewayErrorCode.InvalidJson;
  readonly replyTo: ToGatewayMessageType;

  constructor(replyTo: ToGatewayMessageType, message: string) {
    super(message);
    this.replyTo = replyTo;
  }
}

/** Checks a raw `hello` before its schema: a wrong version closes the connection, a wrong shape does not. */
export function speaksOurVersion(hello: { readonly protocolVersion?: unknown }): boolean {
  return hello.protocolVersion === PROVIDER_PROTOCOL_VERSION;
}

export type AuthClaim = { by: 'token'; token: string } | { by: 'pairing'; name?: string } | { by: 'nothing' };

/** How a provider authenticates. A token takes precedence over pairing, which needs a person. */
export function authClaimOf(message: ProviderAuthMessage): AuthClaim {
  if (message.token !== undefined) return { by: 'token', token: message.token };
  if (message.mode === undefined) return { by: 'nothing' };
  return message.name === undefined ? { by: 'pairing' } : { by: 'pairing', name: message.name };
}

export type ToolOutcome =
  | { kind: 'data'; data: unknown }
  | { kind: 'file'; file: ProviderFileReference }
  | { kind: 'failure'; code: ToolErrorCode; text: string; retryable: boolean };

/** How a tool call ended. `error` or `errorCode` make it a failure, even with data. */
export function toolOutcomeOf(message: ProviderToolResultMessage): ToolOutcome {
  const { error, errorCode, file } = message;
  if (error !== undefined || errorCode !== undefined) {
    const code = toolErrorCodeOf(errorCode);
    return { kind: 'failure', code, text: error ?? errorCode ?? code, retryable: message.retryable ?? false };
  }
  if (file !== undefined) return { kind: 'file', file };
  if ('data' in message) return { kind: 'data', data: message.data };
  throw new ProviderRuleError(message.type, 'A tool.result needs data, file, error or errorCode; null is data too.');
}

/** The code of a failure; an unknown or missing code counts as `INTERNAL`. */
export function toolErrorCodeOf(errorCode: string | undefined): ToolErrorCode {
  return Object.values(ToolErrorCode).find((code) => code === errorCode) ?? ToolErrorCode.Internal;
}

/** The decision of a gate. Anything but an explicit `allow` or `context` denies. */
export function gateDecisionOf(message: ProviderGateResultMessage): ProviderGateDecision {
  return GATE_DECISIONS.find((decision) => decision === message.decision) ?? 'deny';
}

/** The new text of a section; undefined leaves it as it was. */
export function transformContentOf(message: ProviderTransformResultMessage): string | undefined {
  return typeof message.content === 'string' ? message.content : undefined;
}
