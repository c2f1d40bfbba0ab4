/**
 * The page as an app: its service worker, and whether the host has a newer page. An upgraded host has other files, so
 * an old
 * page could not load the parts that it has not loaded yet.
 */
import { Store } from '../model/store.js';
import type { HostLink } from './link.js';

const WORKER = '/service-worker.js';
/** The pause before the service worker registers, so that it does not slow down the opening of a session. */
const REGISTER_AFTER_MS = 3_000;

/** True once the document of the host names another script than this page has. */
export const isOutdated = new Store(false);

export function keepCurrent(link: HostLink): void {
  let wasLost = false;
  link.status.subscribe(() => {
    const isOpen = link.status.get().at === 'open';
    if (isOpen && wasLost) void look();
    wasLost = !isOpen;
  });
  // Reloads while nobody looks: the next page has the unsent text.
  document.addEventListener('visibilitychange', () => reloadUnseen());
  addEventListener('vite:preloadError', () => void look());
  if ('serviceWorker' in navigator) setTimeout(() => void register(), REGISTER_AFTER_MS);
}

async function register(): Promise<void> {
  try {
    await navigator.serviceWorker.register(WORKER, { scope: '/' });
  } catch {
    // Without one the page works, but not as an app.
  }
}

async function look(): Promise<void> {
  const own = document.querySelector<HTMLScriptElement>('script[type="module"][src]')?.getAttribute('src');
  try {
    const response = await fetch('/', { cache: 'no-store' });
    if (!own || !response.ok || (await response.text()).includes(own)) return;
    isOutdated.set(true);
    reloadUnseen();
  } catch {
    // The host is gone again.
  }
}

function reloadUnseen(): void {
  if (isOutdated.get() && document.hidden) location.reload();
}
