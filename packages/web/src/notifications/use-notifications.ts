/** Tells the host which session is in view, and shows the host's notifications while the page is hidden. */
import {
  NOTIFIED_METHOD,
  type NotificationMessage,
  readNotificationMessage,
  VIEW_METHOD,
} from '@atrium/protocol/ahp-1';
import { useEffect } from 'react';
import { useHost } from '../host/context.js';
import { isAtrium } from '../host/extensions.js';
import { hashOf, useRoute } from '../host/router.js';
import { Store, useStore } from '../model/store.js';
import { canNotify, ownReceiver, refresh, worker } from './this-device.js';

const isVisible = new Store(document.visibilityState === 'visible');
document.addEventListener('visibilitychange', () => isVisible.set(document.visibilityState === 'visible'));

export function useNotifications(): void {
  const { client, link } = useHost();
  const route = useRoute();
  const { at } = useStore(link.status);
  const visible = useStore(isVisible);
  const receiver = useStore(ownReceiver);
  const session = route.at === 'session' ? route.uri : undefined;
  useEffect(() => {
    // A restarted host, or another connection, knows nothing about this page.
    if (at !== 'open' || !isAtrium(client)) return;
    const shows = receiver !== undefined && canNotify() && Notification.permission === 'granted';
    const view = { isInView: visible, ...(session !== undefined && { session }) };
    const shown = { ...(shows && { shows }), ...(receiver !== undefined && { receiver }) };
    client.requestExtension(VIEW_METHOD, { ...view, ...shown }).catch(() => {});
  }, [client, at, visible, session, receiver]);
  useEffect(
    () =>
      client.onExtension(NOTIFIED_METHOD, (params) => {
        const message = readNotificationMessage(params);
        if (message) void showHere(message);
      }),
    [client],
  );
  useEffect(() => {
    if (!isAtrium(client)) return;
    void worker();
    refresh(client).catch(() => {});
    return openFromWorker();
  }, [client]);
}

/** The worker asks an open page to go to a session. */
function openFromWorker(): () => void {
  const open = ({ data }: MessageEvent<unknown>) => {
    const { kind, hash } = (data ?? {}) as { readonly kind?: unknown; readonly hash?: unknown };
    if (kind === 'open' && typeof hash === 'string' && hash.startsWith('#/')) location.hash = hash;
  };
  navigator.serviceWorker?.addEventListener('message', open);
  return () => navigator.serviceWorker?.removeEventListener('message', open);
}

/** The visible notifications, by their tags. */
const shown = new Map<string, Notification>();

async function showHere({ kind, tag, title, body, session }: NotificationMessage): Promise<void> {
  shown.get(tag)?.close();
  shown.delete(tag);
  if (kind === 'close' || isVisible.get() || !canNotify() || Notification.permission !== 'granted') return;
  const options = { tag, icon: '/icon.svg', ...(body !== undefined && { body }) };
  try {
    const notification = new Notification(title, options);
    shown.set(tag, notification);
    notification.onclose = () => shown.delete(tag);
    notification.onclick = () => {
      focus();
      if (session !== undefined) location.hash = hashOf({ at: 'session', uri: session });
      notification.close();
    };
  } catch {
    // Phones allow notifications only from the worker.
    await (await worker())?.showNotification(title, { ...options, data: { tag, session } });
  }
}
