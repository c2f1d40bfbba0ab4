/** The view that the address names. Uses only the fragment, because the host serves one page. */
import { type Readable, useStore } from '../model/store.js';

/** A new session has an address of its own because on a phone the list and the form do not fit beside each other. */
type Route = { readonly at: 'home' } | { readonly at: 'new' } | { readonly at: 'share' } | SessionRoute;

interface SessionRoute {
  readonly at: 'session';
  readonly uri: string;
  /** Absent: the session's default chat. */
  readonly chat?: string;
}

const SESSION = '#/session/';
const CHAT = '/chat/';
const NEW = '#/new';
/** The view of content that another app has shared. */
const SHARE = '#/share';
const HOME: Route = { at: 'home' };

function routeOf(hash: string): Route {
  if (hash === NEW) return { at: 'new' };
  if (hash === SHARE) return { at: 'share' };
  if (!hash.startsWith(SESSION)) return HOME;
  const [uri = '', chat] = hash.slice(SESSION.length).split(CHAT);
  try {
    return { at: 'session', uri: decodeURIComponent(uri), ...(chat && { chat: decodeURIComponent(chat) }) };
  } catch {
    return HOME;
  }
}

export function hashOf(route: Route): string {
  if (route.at === 'new') return NEW;
  if (route.at === 'share') return SHARE;
  if (route.at === 'home') return '#/';
  const chat = route.chat === undefined ? '' : `${CHAT}${encodeURIComponent(route.chat)}`;
  return `${SESSION}${encodeURIComponent(route.uri)}${chat}`;
}

export function goTo(route: Route): void {
  location.hash = hashOf(route);
}

const currentHash: Readable<string> = {
  get: () => location.hash,
  subscribe(listener) {
    addEventListener('hashchange', listener);
    return () => removeEventListener('hashchange', listener);
  },
};

export function useRoute(): Route {
  return routeOf(useStore(currentHash));
}
