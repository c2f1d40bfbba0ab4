/** The provider interface, version 2: what a gateway and its providers say to each other. */
export {
  type BindingScope,
  CAPABILITIES,
  CAPABILITY_MATRIX,
  type Capability,
  type CapabilityGrants,
  type CapabilityMatrix,
  grantOf,
  PROTECTED_SECTION_ACTIONS,
  PROTECTED_SECTIONS,
  TRUST_LEVELS,
  type TrustLevel,
} from './capabilities.js';
export { FATAL_GATEWAY_ERRORS, GatewayErrorCode, ToolErrorCode } from './error-codes.js';
export {
  AUTH_TIMEOUT_MS,
  CANCELLED_SLOT_RELEASE_MS,
  CONNECTIONS_FULL_HTTP_STATUS,
  CONNECTIONS_MAX,
  EVENTS_PER_STREAM_MAX,
  EXIT_CLOSE_CODE,
  EXIT_GRACE_MS,
  FILE_RESULT_MAX_BYTES,
  FRAME_MAX_BYTES,
  FRAME_TOO_BIG_CLOSE_CODE,
  GATE_TIMEOUT_MS,
  GATEWAY_DEFAULT_PORT,
  HELD_INJECTS_MAX,
  HOOK_RULES_PER_PROVIDER_MAX,
  ILLEGAL_MESSAGES_BEFORE_AUTH_MAX,
  INJECT_CYCLES_MAX,
  INSTANCE_RETRIES_MAX,
  MATCH_BUDGET_MS,
  MESSAGE_MAX_BYTES,
  MISSED_PINGS_MAX,
  NAME_MAX_CHARS,
  PAIRING_ATTEMPTS_PER_MINUTE_MAX,
  PAIRING_CODE_DIGITS,
  PAIRING_CODE_TTL_MS,
  PING_INTERVAL_MS,
  PROVIDER_PROTOCOL_VERSION,
  PUSHES_PER_SECOND_MAX,
  QUEUED_CALLS_MAX,
  RATE_LIMIT_RETRY_AFTER_MS,
  REBINDS_PER_MINUTE_MAX,
  RECONNECT_WINDOW_MS,
  SHUTDOWN_DEADLINE_MS,
  STREAM_QUERY_LAST_MAX,
  STREAMS_PER_PROVIDER_MAX,
  TOOL_RESULT_MAX_BYTES,
  TOOL_TIMEOUT_DEFAULT_MS,
  TOOLS_PER_PROVIDER_MAX,
  TRANSFORM_TIMEOUT_MS,
} from './limits.js';
export {
  TO_GATEWAY_TYPES,
  TO_PROVIDER_TYPES,
  type ToGatewayMessage,
  type ToGatewayMessageMap,
  type ToGatewayMessageType,
  type ToProviderMessage,
  type ToProviderMessageMap,
  type ToProviderMessageType,
} from './message-types.js';
export type { ProviderAssistantIntentData } from './parts/assistant-intent-data.js';
export type { ProviderAssistantMessageData, ProviderToolRequest } from './parts/assistant-message-data.js';
export type { ProviderConcurrency } from './parts/concurrency.js';
export type { ProviderContextRule } from './parts/context-rule.js';
export type { ProviderDenyRule } from './parts/deny-rule.js';
export type { ProviderFileReference } from './parts/file-reference.js';
export type { ProviderFilterRule } from './parts/filter-rule.js';
export { GATE_DECISIONS, type ProviderGateDecision } from './parts/gate-decision.js';
export type { ProviderGateRule } from './parts/gate-rule.js';
export type { ProviderHookRule } from './parts/hook-rule.js';
export type { ProviderHooks } from './parts/hooks.js';
export type { ProviderJsonObject } from './parts/json-object.js';
export type { ProviderMatch } from './parts/match.js';
export type { ProviderName } from './parts/name.js';
export type { ProviderPushLevel } from './parts/push-level.js';
export type { ProviderSessionEntry } from './parts/session-entry.js';
export { type ProviderSessionEventName, SESSION_EVENT_NAMES } from './parts/session-event-name.js';
export type { ProviderStreamEvent } from './parts/stream-event.js';
export type { ProviderText } from './parts/text.js';
export type { ProviderToolDefinition } from './parts/tool-definition.js';
export type { ProviderToolExecutionData, ProviderToolExecutionResult } from './parts/tool-execution-data.js';
export type { ProviderToolName } from './parts/tool-name.js';
export type { ProviderCallbackTransform, ProviderStaticTransform, ProviderTransform } from './parts/transform.js';
export { STATIC_TRANSFORM_ACTIONS, type StaticTransformAction } from './parts/transform-action.js';
export type { ProviderUserMessageData } from './parts/user-message-data.js';
export {
  type AuthClaim,
  authClaimOf,
  gateDecisionOf,
  ProviderRuleError,
  speaksOurVersion,
  type ToolOutcome,
  toolErrorCodeOf,
  toolOutcomeOf,
  transformContentOf,
} from './rules.js';
export {
  CONNECTION_STATE_RULES,
  CONNECTION_STATES,
  type ConnectionState,
  type ConnectionStateRule,
  type IllegalMessageFate,
  isLegalIn,
} from './states.js';
export type { ProviderAuthMessage } from './to-gateway/auth.js';
export type { ProviderAuthConfirmMessage } from './to-gateway/auth-confirm.js';
export type { ProviderContextUpdateMessage } from './to-gateway/context-update.js';
export type { ProviderFilterSetMessage } from './to-gateway/filter-set.js';
export type { ProviderGateResultMessage } from './to-gateway/gate-result.js';
export type { ProviderGoodbyeMessage } from './to-gateway/goodbye.js';
export type { ProviderHelloMessage } from './to-gateway/hello.js';
export type { ProviderHooksUpdateMessage } from './to-gateway/hooks-update.js';
export type { ProviderEventPush, ProviderPromptPush, ProviderPushMessage } from './to-gateway/push.js';
export type { ProviderSessionReadyMessage } from './to-gateway/session-ready.js';
export type { ProviderShutdownReadyMessage } from './to-gateway/shutdown-ready.js';
export type { ProviderStreamQueryMessage } from './to-gateway/stream-query.js';
export type { ProviderToolProgressMessage } from './to-gateway/tool-progress.js';
export type { ProviderToolResultMessage } from './to-gateway/tool-result.js';
export type { ProviderToolsUpdateMessage } from './to-gateway/tools-update.js';
export type { ProviderTransformResultMessage } from './to-gateway/transform-result.js';
export type { ProviderAckMessage } from './to-provider/ack.js';
export type { ProviderAuthPairingMessage } from './to-provider/auth-pairing.js';
export type { ProviderErrorMessage } from './to-provider/error.js';
export type { ProviderGateCheckMessage } from './to-provider/gate-check.js';
export type { ProviderHelloAckMessage } from './to-provider/hello-ack.js';
export type { ProviderSessionEventMessage } from './to-provider/session-event.js';
export type { ProviderSessionLifecycleMessage } from './to-provider/session-lifecycle.js';
export type { ProviderSessionsMessage } from './to-provider/sessions.js';
export type { ProviderSessionsUpdatedMessage } from './to-provider/sessions-updated.js';
export type { ProviderStreamHistoryMessage } from './to-provider/stream-history.js';
export type { ProviderToolCallMessage } from './to-provider/tool-call.js';
export type { ProviderToolCancelMessage } from './to-provider/tool-cancel.js';
export type { ProviderTransformRequestMessage } from './to-provider/transform-request.js';
