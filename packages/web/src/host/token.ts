/**
 * The token of the page. It arrives in the fragment of the address, which no server sees. The page exchanges it for a
 * cookie that
 * no script can read and that survives the end of the browser. With hosts without such cookies, the token stays in the
 * memory of
 * this tab.
 */
import { COOKIE_PATH, type DeviceLink, REDEEM_PATH, readDeviceFragment } from '@atrium/protocol/ahp-1';

const KEY = 'atrium.token';
/** Remembers that this browser is a device, so that the page can say when it no longer is. */
const DEVICE_KEY = 'atrium.device';
const JSON_TYPE = { 'Content-Type': 'application/json' };

/** Takes a token out of the address; true if there was one. Call it before anything else reads the address. */
export function takeTokenFromAddress(): boolean {
  const token = new URLSearchParams(location.hash.slice(1)).get('token');
  if (token === null) return false;
  if (token !== '') keepToken(token);
  leaveFragment();
  return true;
}

/** Takes the code that lets a device in out of the address. */
export function takeInvitationFromAddress(): Pick<DeviceLink, 'code' | 'fingerprint'> | undefined {
  const invited = readDeviceFragment(location.hash);
  if (invited) leaveFragment();
  return invited;
}

function leaveFragment(): void {
  history.replaceState(null, '', `${location.pathname}${location.search}#/`);
}

/** The token of this tab; undefined if there is none, or if a cookie takes its place. */
export function keptToken(): string | undefined {
  return sessionStorage.getItem(KEY) ?? undefined;
}

export function keepToken(token: string): void {
  sessionStorage.setItem(KEY, token.trim());
}

/** Whether this browser has been a device. */
export function wasDevice(): boolean {
  return localStorage.getItem(DEVICE_KEY) !== null;
}

/** Exchanges the token of this tab for a cookie. If the host has none, or refuses, the token stays. */
export async function exchangeToken(): Promise<void> {
  const token = keptToken();
  if (token === undefined) return;
  const headers = { ...JSON_TYPE, Authorization: `Bearer ${token}` };
  const answer = await fetch(COOKIE_PATH, { method: 'POST', headers, body: '{}' }).catch(() => undefined);
  if (answer?.status !== 204) return;
  sessionStorage.removeItem(KEY);
  localStorage.removeItem(DEVICE_KEY);
}

/**
 * Sends a code to the host, which sets the cookie. Resolves with the reason of a refusal; undefined if this browser is
 * in.
 */
export async function redeemCode(code: string, name?: string): Promise<string | undefined> {
  try {
    const body = JSON.stringify({ code, ...(name !== undefined && { name }) });
    const answer = await fetch(REDEEM_PATH, { method: 'POST', headers: JSON_TYPE, body });
    const { error }: { error?: unknown } = await answer.json();
    if (!answer.ok) return typeof error === 'string' ? error : `The host refused it (${answer.status}).`;
    sessionStorage.removeItem(KEY);
    localStorage.setItem(DEVICE_KEY, 'yes');
    return undefined;
  } catch {
    return 'The host does not answer. Try again.';
  }
}

/** Finds the token in pasted text, which may be the token itself or the whole link from the start screen. */
export function tokenIn(pasted: string): string {
  const text = pasted.trim();
  const fromLink = /[#&?](?:token|tkn)=([^&\s]+)/.exec(text)?.[1];
  return fromLink ?? text;
}
