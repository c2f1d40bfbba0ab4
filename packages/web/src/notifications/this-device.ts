/**
 * This browser as a receiver of notifications. With Web Push it gets them while the page is closed; without, the page
 * itself shows
 * notifications while it is open and hidden. The host stores the rule; the browser stores the id of its receiver.
 */
import type { Client } from '@atrium/client';
import {
  NOTIFICATIONS_METHOD,
  type NotificationReceiver,
  type NotificationReceivers,
  REMOVE_RECEIVER_METHOD,
  SET_RECEIVER_METHOD,
  type SetReceiverParams,
  type SetReceiverResult,
} from '@atrium/protocol/ahp-1';
import { Store } from '../model/store.js';

const KEY = 'atrium.receiver';
const WORKER = '/service-worker.js';
/** A push service that does not answer must not block the switch for longer than this. */
const SUBSCRIBE_TIMEOUT_MS = 15_000;

/** The id of this browser's receiver. */
export const ownReceiver = new Store<string | undefined>(localStorage.getItem(KEY) ?? undefined);

function keep(id: string | undefined): void {
  if (id === undefined) localStorage.removeItem(KEY);
  else localStorage.setItem(KEY, id);
  ownReceiver.set(id);
}

/** Browsers allow notifications only on encrypted pages, and on those of this machine. */
export function canNotify(): boolean {
  return 'Notification' in window && isSecureContext;
}

/** Undefined if the browser has none, as in private windows. */
export async function worker(): Promise<ServiceWorkerRegistration | undefined> {
  if (!('serviceWorker' in navigator)) return undefined;
  try {
    return await navigator.serviceWorker.register(WORKER, { scope: '/' });
  } catch {
    return undefined;
  }
}

export async function receivers(client: Client): Promise<NotificationReceivers> {
  const answer = (await client.requestExtension(NOTIFICATIONS_METHOD)) as Partial<NotificationReceivers> | null;
  const { items = [], publicKey = '', hasDesktop = false } = answer ?? {};
  return { items: Array.isArray(items) ? items : [], publicKey, hasDesktop };
}

export async function setReceiver(client: Client, params: SetReceiverParams): Promise<SetReceiverResult> {
  return (await client.requestExtension(SET_RECEIVER_METHOD, params)) as SetReceiverResult;
}

export async function removeReceiver(client: Client, id: string): Promise<void> {
  await client.requestExtension(REMOVE_RECEIVER_METHOD, { id });
  if (id === ownReceiver.get()) await forget();
}

/** Switches notifications on. Resolves with a note for the person; undefined if everything works. */
export async function enable(client: Client): Promise<string | undefined> {
  if (!canNotify()) return 'Browsers allow notifications on https pages and on localhost only.';
  if ((await Notification.requestPermission()) !== 'granted')
    return 'The browser does not allow notifications for this page: change that in its settings.';
  const { publicKey } = await receivers(client);
  const subscription = await subscribe(publicKey);
  const name = browserName();
  const params: SetReceiverParams = subscription
    ? { kind: 'push', name, subscription: subscription.toJSON() as SetReceiverParams['subscription'] & object }
    : { kind: 'page', name };
  const { receiver } = await setReceiver(client, params);
  keep(receiver.id);
  return undefined;
}

/** Undefined if there is no push service, or if it is out of reach. */
async function subscribe(publicKey: string): Promise<PushSubscription | undefined> {
  const registration = await worker();
  if (!registration || !('pushManager' in registration) || publicKey === '') return undefined;
  try {
    await navigator.serviceWorker.ready;
    const old = await registration.pushManager.getSubscription();
    // The old subscription belongs to another host that had this address before.
    if (old && !hasKey(old, publicKey)) await old.unsubscribe();
    const asked = registration.pushManager.subscribe({ userVisibleOnly: true, applicationServerKey: publicKey });
    const late = new Promise<never>((_, reject) => {
      setTimeout(() => reject(new Error('the push service does not answer')), SUBSCRIBE_TIMEOUT_MS);
    });
    return await Promise.race([asked, late]);
  } catch {
    return undefined;
  }
}

function hasKey({ options }: PushSubscription, publicKey: string): boolean {
  const { applicationServerKey } = options;
  if (!applicationServerKey) return false;
  const text = btoa(String.fromCharCode(...new Uint8Array(applicationServerKey)));
  return text.replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '') === publicKey;
}

export async function disable(client: Client): Promise<void> {
  const id = ownReceiver.get();
  if (id !== undefined) await client.requestExtension(REMOVE_RECEIVER_METHOD, { id }).catch(() => {});
  await forget();
}

async function forget(): Promise<void> {
  keep(undefined);
  const registration = await worker();
  const subscription = await registration?.pushManager?.getSubscription();
  await subscription?.unsubscribe();
}

/** Forgets the receiver if the host has removed it, for example after the browser ended its subscription. */
export function forgetIfGone(items: readonly NotificationReceiver[]): void {
  const id = ownReceiver.get();
  if (id !== undefined && !items.some((receiver) => receiver.id === id)) keep(undefined);
}

/** Tells the host if the browser has changed its subscription by itself. */
export async function refresh(client: Client): Promise<void> {
  const id = ownReceiver.get();
  const subscription = id === undefined ? undefined : await (await worker())?.pushManager?.getSubscription();
  if (id === undefined || !subscription) return;
  const { items } = await receivers(client);
  forgetIfGone(items);
  if (items.find((receiver) => receiver.id === id)?.kind === 'push')
    await setReceiver(client, {
      id,
      subscription: subscription.toJSON() as SetReceiverParams['subscription'] & object,
    });
}

function browserName(): string {
  const { userAgent } = navigator;
  const [, browser] = /(Edg|Firefox|Chrome|Safari)/.exec(userAgent) ?? [];
  const [, system] = /(Android|iPhone|iPad|Windows|Mac OS X|Linux)/.exec(userAgent) ?? [];
  return [browser === 'Edg' ? 'Edge' : browser, system && `on ${system}`].filter(Boolean).join(' ') || 'Browser';
}
