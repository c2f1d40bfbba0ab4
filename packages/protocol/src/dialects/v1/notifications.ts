/** Host notifications: version 1 wraps them, and knows only that a session came or went. */
import type { HostNotifications } from '../../methods.js';
import type { V1ActionEnvelope, V1Notification } from '../../versions/v1.js';
import type { ActionFrame, Call, EchoStamp, Frame, OriginalAction, RejectionStamp } from '../dialect.js';
import { summaryToV1 } from './state.js';
import { type ProviderOf, sessionToV1 } from './uris.js';

export function actionFrame(envelope: V1ActionEnvelope): ActionFrame {
  return { method: 'action', params: { envelope }, origin: envelope.origin };
}

/** The envelope stands in the parameters a second time, without a wrapper. */
export function alsoFlat<Any extends Frame>(frame: Any): Any {
  const { envelope } = frame.params as { readonly envelope: V1ActionEnvelope };
  return { ...frame, params: { ...envelope, envelope } };
}

/** An own action coming back, exactly as it was dispatched: clients match it with the head of what they wait for. */
export function ownActionFrame({ action }: OriginalAction, stamp: EchoStamp | RejectionStamp): Frame {
  return { method: 'action', params: { envelope: { action, ...stamp } } };
}

export function notificationToV1({ method, params }: Call, providerOf: ProviderOf): Frame | undefined {
  if (method === 'root/sessionAdded') {
    const { summary } = params as HostNotifications['root/sessionAdded'];
    return notificationFrame({ type: 'notify/sessionAdded', summary: summaryToV1(summary) });
  }
  if (method !== 'root/sessionRemoved') return undefined;
  const { session } = params as HostNotifications['root/sessionRemoved'];
  return notificationFrame({ type: 'notify/sessionRemoved', session: sessionToV1(session, providerOf(session)) });
}

function notificationFrame(notification: V1Notification): Frame {
  return { method: 'notification', params: { notification } };
}
