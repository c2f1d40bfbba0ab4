/**
 * Handles messages of the host in the service worker: shows them, takes them back, opens their session, and sends Allow
 * or Deny.
 * Only the host's own push key can send here. A message is complete: the worker fetches nothing more.
 */
import { ANSWER_PATH, type NotificationMessage, readNotificationMessage } from '@atrium/protocol/ahp-1';
import { isNew } from './shown.js';

const ALLOW = 'allow';
const DENY = 'deny';
const ANSWER_TIMEOUT_MS = 15_000;

/** Buttons are not in the standard's types yet. */
interface ShownOptions extends NotificationOptions {
  readonly actions?: readonly { readonly action: string; readonly title: string }[];
  readonly renotify?: boolean;
}

/**
 * Chromium forgets a notification that is only about to be shown when somebody asks which ones there are: it could not be
 * taken back any more. So pushes wait for each other.
 */
let turn: Promise<unknown> = Promise.resolve();

function inTurn(work: () => Promise<void>): Promise<void> {
  const done = turn.then(work);
  turn = done.catch(() => {});
  return done;
}

export function onPush({ registration }: ServiceWorkerGlobalScope, { data }: PushEvent): Promise<void> {
  return inTurn(() => tell(registration, messageIn(data)));
}

async function tell(registration: ServiceWorkerRegistration, message: NotificationMessage | undefined): Promise<void> {
  if (!message)
    return registration.showNotification('Atrium', { body: 'Open Atrium to see what is new.', tag: 'atrium' });
  if (message.kind === 'close') return takeBack(registration, message);
  const isFirst = await isNew(message.id);
  const shown = await registration.getNotifications({ tag: message.tag });
  // It was shown before, and the person has seen or dismissed it. Safari wants a notification for every push.
  if (!isFirst && shown.length === 0 && !mustShow()) return;
  await registration.showNotification(message.title, optionsOf(message, isFirst));
}

function messageIn(data: PushMessageData | null): NotificationMessage | undefined {
  try {
    return readNotificationMessage(data?.json());
  } catch {
    return undefined;
  }
}

function optionsOf(message: NotificationMessage, isFirst = true): ShownOptions {
  const { body, tag, answerKey } = message;
  const actions = [
    { action: ALLOW, title: 'Allow' },
    { action: DENY, title: 'Deny' },
  ];
  return {
    ...(body !== undefined && { body }),
    ...{ tag, data: message, icon: '/icon.svg', silent: !isFirst },
    ...(answerKey !== undefined && { actions, requireInteraction: true }),
  };
}

async function takeBack(registration: ServiceWorkerRegistration, message: NotificationMessage): Promise<void> {
  for (const tag of [message.tag, outcomeTag(message)])
    for (const notification of await registration.getNotifications({ tag })) notification.close();
  // Safari revokes the permission of pages whose pushes show nothing, so it gets a quiet notification.
  if (mustShow())
    await registration.showNotification(message.title, { ...optionsOf(message, false), body: 'This is settled.' });
}

/** Whether this browser counts pushes that show nothing against the page. */
function mustShow(): boolean {
  const { userAgent } = navigator;
  return userAgent.includes('AppleWebKit') && !/Chrom(e|ium)|Edg/.test(userAgent);
}

/** Of its own: while Chromium closes the question, it may close what has the same tag with it. */
function outcomeTag({ tag }: NotificationMessage): string {
  return `${tag}:outcome`;
}

export async function onNotificationClick(scope: ServiceWorkerGlobalScope, event: NotificationEvent): Promise<void> {
  const { notification, action } = event;
  const message = readNotificationMessage(notification.data);
  notification.close();
  const key = message?.answerKey;
  if (message && key !== undefined && (action === ALLOW || action === DENY)) {
    const outcome = await answer(key, action === ALLOW);
    if (outcome === undefined) return;
    const data = { ...message, answerKey: undefined };
    const options = { body: outcome, tag: outcomeTag(message), data };
    return inTurn(() => scope.registration.showNotification(message.title, options));
  }
  await openSession(scope, message?.session);
}

/** Resolves with a note for the person; undefined if all went well. */
async function answer(key: string, approved: boolean): Promise<string | undefined> {
  try {
    const response = await fetch(ANSWER_PATH, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ key, approved }),
      signal: AbortSignal.timeout(ANSWER_TIMEOUT_MS),
    });
    if (response.ok) return undefined;
    const { problem }: { problem?: unknown } = await response.json().catch(() => ({}));
    return typeof problem === 'string' ? problem : 'Your answer was not taken. Open the session to see why.';
  } catch {
    return 'The host could not be reached: your answer was not sent. Open the session to answer.';
  }
}

/** Opens the session in an open page, if there is one. */
async function openSession({ clients }: ServiceWorkerGlobalScope, session: string | undefined): Promise<void> {
  const hash = session === undefined ? '#/' : `#/session/${encodeURIComponent(session)}`;
  const pages = await clients.matchAll({ type: 'window', includeUncontrolled: true });
  const page = pages.find((each) => each.url.endsWith(hash)) ?? pages.find((each) => each.focused) ?? pages[0];
  if (!page) return void (await clients.openWindow(`/${hash}`));
  page.postMessage({ kind: 'open', hash });
  await page.focus();
}
