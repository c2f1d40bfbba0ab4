/** Every message of the provider interface, by its type: sixteen to the gateway, thirteen to the provider. */
import { ProviderAuthMessage } from './to-gateway/auth.js';
import { ProviderAuthConfirmMessage } from './to-gateway/auth-confirm.js';
import { ProviderContextUpdateMessage } from './to-gateway/context-update.js';
import { ProviderFilterSetMessage } from './to-gateway/filter-set.js';
import { ProviderGateResultMessage } from './to-gateway/gate-result.js';
import { ProviderGoodbyeMessage } from './to-gateway/goodbye.js';
import { ProviderHelloMessage } from './to-gateway/hello.js';
import { ProviderHooksUpdateMessage } from './to-gateway/hooks-update.js';
import { ProviderPushMessage } from './to-gateway/push.js';
import { ProviderSessionReadyMessage } from './to-gateway/session-ready.js';
import { ProviderShutdownReadyMessage } from './to-gateway/shutdown-ready.js';
import { ProviderStreamQueryMessage } from './to-gateway/stream-query.js';
import { ProviderToolProgressMessage } from './to-gateway/tool-progress.js';
import { ProviderToolResultMessage } from './to-gateway/tool-result.js';
import { ProviderToolsUpdateMessage } from './to-gateway/tools-update.js';
import { ProviderTransformResultMessage } from './to-gateway/transform-result.js';
import { ProviderAckMessage } from './to-provider/ack.js';
import { ProviderAuthPairingMessage } from './to-provider/auth-pairing.js';
import { ProviderErrorMessage } from './to-provider/error.js';
import { ProviderGateCheckMessage } from './to-provider/gate-check.js';
import { ProviderHelloAckMessage } from './to-provider/hello-ack.js';
import { ProviderSessionEventMessage } from './to-provider/session-event.js';
import { ProviderSessionLifecycleMessage } from './to-provider/session-lifecycle.js';
import { ProviderSessionsMessage } from './to-provider/sessions.js';
import { ProviderSessionsUpdatedMessage } from './to-provider/sessions-updated.js';
import { ProviderStreamHistoryMessage } from './to-provider/stream-history.js';
import { ProviderToolCallMessage } from './to-provider/tool-call.js';
import { ProviderToolCancelMessage } from './to-provider/tool-cancel.js';
import { ProviderTransformRequestMessage } from './to-provider/transform-request.js';

/** Sent by a provider. */
export const toGatewayMessages = {
  auth: ProviderAuthMessage,
  'auth.confirm': ProviderAuthConfirmMessage,
  hello: ProviderHelloMessage,
  goodbye: ProviderGoodbyeMessage,
  'session.ready': ProviderSessionReadyMessage,
  'tool.result': ProviderToolResultMessage,
  'tool.progress': ProviderToolProgressMessage,
  'gate.result': ProviderGateResultMessage,
  'transform.result': ProviderTransformResultMessage,
  push: ProviderPushMessage,
  'tools.update': ProviderToolsUpdateMessage,
  'hooks.update': ProviderHooksUpdateMessage,
  'context.update': ProviderContextUpdateMessage,
  'filter.set': ProviderFilterSetMessage,
  'stream.query': ProviderStreamQueryMessage,
  'shutdown.ready': ProviderShutdownReadyMessage,
} as const;

/** Sent by the gateway. */
export const toProviderMessages = {
  'auth.pairing': ProviderAuthPairingMessage,
  sessions: ProviderSessionsMessage,
  'sessions.updated': ProviderSessionsUpdatedMessage,
  'hello.ack': ProviderHelloAckMessage,
  ack: ProviderAckMessage,
  error: ProviderErrorMessage,
  'tool.call': ProviderToolCallMessage,
  'tool.cancel': ProviderToolCancelMessage,
  'gate.check': ProviderGateCheckMessage,
  'transform.request': ProviderTransformRequestMessage,
  'session.event': ProviderSessionEventMessage,
  'session.lifecycle': ProviderSessionLifecycleMessage,
  'stream.history': ProviderStreamHistoryMessage,
} as const;
