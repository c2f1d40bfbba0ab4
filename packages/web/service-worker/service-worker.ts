/**
 * The service worker of the page. It is one script of its own, without imports at run time, at the root of the host: its scope
 * is the whole page.
 */
import { onNotificationClick, onPush } from './notifications.js';
import { forgetOldShells, fromShell, keepShell } from './offline-shell.js';
import { isShare, takeShare } from './share-target.js';

declare const self: ServiceWorkerGlobalScope;

// A new version takes over at once: the page and the worker share nothing that could be of two versions.
self.addEventListener('install', (event) => {
  void self.skipWaiting();
  // Everything else still works without the cached frame.
  event.waitUntil(keepShell().catch(() => {}));
});
self.addEventListener('activate', (event) => event.waitUntil(Promise.all([self.clients.claim(), forgetOldShells()])));
self.addEventListener('fetch', (event) => {
  const answer = isShare(event.request) ? takeShare(event.request) : fromShell(event.request);
  if (answer) event.respondWith(answer);
});
self.addEventListener('push', (event) => event.waitUntil(onPush(self, event)));
self.addEventListener('notificationclick', (event) => event.waitUntil(onNotificationClick(self, event)));
