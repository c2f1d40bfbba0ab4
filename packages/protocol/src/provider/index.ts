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
  toGatewayMessages,
  toProviderMessages,
} from './messages.js';
export { ProviderAssistantIntentData } from './parts/assistant-intent-data.js';
export { ProviderAssistantMessageData, ProviderToolRequest } from './parts/assistant-message-data.js';
export { ProviderConcurrency } from './parts/concurrency.js';
export { ProviderContextRule } from './parts/context-rule.js';
export { ProviderDenyRule } from './parts/deny-rule.js';
export { ProviderFileReference } from './parts/file-reference.js';
export { ProviderFilterRule } from './parts/filter-rule.js';
export { GATE_DECISIONS, type ProviderGateDecision } from './parts/gate-decision.js';
export { ProviderGateRule } from './parts/gate-rule.js';
export { ProviderHookRule } from './parts/hook-rule.js';
export { ProviderHooks } from './parts/hooks.js';
export { ProviderJsonObject } from './parts/json-object.js';
export { ProviderMatch } from './parts/match.js';
export { ProviderName } from './parts/name.js';
export { ProviderPushLevel } from './parts/push-level.js';
export { ProviderSessionEntry } from './parts/session-entry.js';
export { type ProviderSessionEventName, SESSION_EVENT_NAMES } from './parts/session-event-name.js';
export { ProviderStreamEvent } from './parts/stream-event.js';
export { ProviderText } from './parts/text.js';
export { ProviderToolDefinition } from './parts/tool-definition.js';
export { ProviderToolExecutionData, ProviderToolExecutionResult } from './parts/tool-execution-data.js';
export { ProviderToolName } from './parts/tool-name.js';
export {
  ProviderCallbackTransform,
  ProviderStaticTransform,
  ProviderTransform,
  STATIC_TRANSFORM_ACTIONS,
  type StaticTransformAction,
} from './parts/transform.js';
export { ProviderUserMessageData } from './parts/user-message-data.js';
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
export { ProviderAuthMessage } from './to-gateway/auth.js';
export { ProviderAuthConfirmMessage } from './to-gateway/auth-confirm.js';
export { ProviderContextUpdateMessage } from './to-gateway/context-update.js';
export { ProviderFilterSetMessage } from './to-gateway/filter-set.js';
export { ProviderGateResultMessage } from './to-gateway/gate-result.js';
export { ProviderGoodbyeMessage } from './to-gateway/goodbye.js';
export { ProviderHelloMessage } from './to-gateway/hello.js';
export { ProviderHooksUpdateMessage } from './to-gateway/hooks-update.js';
export { ProviderEventPush, ProviderPromptPush, ProviderPushMessage } from './to-gateway/push.js';
export { ProviderSessionReadyMessage } from './to-gateway/session-ready.js';
export { ProviderShutdownReadyMessage } from './to-gateway/shutdown-ready.js';
export { ProviderStreamQueryMessage } from './to-gateway/stream-query.js';
export { ProviderToolProgressMessage } from './to-gateway/tool-progress.js';
export { ProviderToolResultMessage } from './to-gateway/tool-result.js';
export { ProviderToolsUpdateMessage } from './to-gateway/tools-update.js';
export { ProviderTransformResultMessage } from './to-gateway/transform-result.js';
export { ProviderAckMessage } from './to-provider/ack.js';
export { ProviderAuthPairingMessage } from './to-provider/auth-pairing.js';
export { ProviderErrorMessage } from './to-provider/error.js';
export { ProviderGateCheckMessage } from './to-provider/gate-check.js';
export { ProviderHelloAckMessage } from './to-provider/hello-ack.js';
export { ProviderSessionEventMessage, sessionEventData } from './to-provider/session-event.js';
export { ProviderSessionLifecycleMessage } from './to-provider/session-lifecycle.js';
export { ProviderSessionsMessage } from './to-provider/sessions.js';
export { ProviderSessionsUpdatedMessage } from './to-provider/sessions-updated.js';
export { ProviderStreamHistoryMessage } from './to-provider/stream-history.js';
export { ProviderToolCallMessage } from './to-provider/tool-call.js';
export { ProviderToolCancelMessage } from './to-provider/tool-cancel.js';
export { ProviderTransformRequestMessage } from './to-provider/transform-request.js';
