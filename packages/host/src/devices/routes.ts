/** The requests that a device sends before it has a token, and how the page exchanges a token for its cookie. */
import { COOKIE_PATH, HOST_KEY_PATH, REDEEM_PATH } from '@atrium/protocol/ahp-1';
import { isLocal } from '../server/forwarded.js';
import type { Route, RouteReply, RouteRequest } from '../server/routes.js';
import type { Devices } from './devices.js';
import { NAME_MAX_CHARACTERS } from './limits.js';

/** The same answer for a code that never existed, was used, or has expired. */
const WRONG_CODE = 'This code is wrong or no longer works. Ask for a new one.';
const BLOCKED = 'There were too many wrong codes. Wait, then ask for a new one.';
const FULL = 'This host has no room for another device. Remove one first.';
const WRONG_TOKEN = 'The token is missing or wrong.';

export function deviceRoutes(devices: Devices, now: () => number): readonly Route[] {
  return [
    { method: 'GET', path: HOST_KEY_PATH, answer: ({ query }) => hostKeyReply(devices, query.get('nonce')) },
    { method: 'POST', path: REDEEM_PATH, answer: (request) => redeem(devices, request, now()) },
    { method: 'POST', path: COOKIE_PATH, answer: (request) => exchange(request, now()) },
  ];
}

function hostKeyReply({ key }: Devices, nonce: string | null): RouteReply {
  const answer = key.answer(nonce ?? undefined);
  return answer ? { status: 200, json: answer } : { status: 400 };
}

/** The page gets the token in its cookie, where no script can read it; a program gets it in the answer. */
async function redeem(devices: Devices, { source, isPage, body }: RouteRequest, now: number): Promise<RouteReply> {
  const { code, name } = (body ?? {}) as { readonly code?: unknown; readonly name?: unknown };
  const isName = name === undefined || (typeof name === 'string' && name.length <= 4 * NAME_MAX_CHARACTERS);
  if (typeof code !== 'string' || !isName) return { status: 400 };
  const isPrivate = isLocal(source) || source.scheme === 'https';
  const redeemed = await devices.redeem({ code, name, isPrivate });
  switch (redeemed.kind) {
    case 'wrong':
      return { status: 401, json: { error: WRONG_CODE } };
    case 'blocked':
      return { status: 429, json: { error: BLOCKED }, retryAfterSeconds: redeemed.seconds };
    case 'full':
      return { status: 409, json: { error: FULL } };
    case 'in': {
      const { token, ...device } = redeemed.device;
      if (!isPage) return { status: 200, json: redeemed.device };
      return { status: 200, json: device, cookie: { token, seconds: secondsUntil(redeemed.expiresAt, now) } };
    }
  }
}

function exchange({ isPage, access, token, body }: RouteRequest, now: number): RouteReply {
  if (!isPage) return { status: 403 };
  if ((body as { readonly forget?: unknown } | null)?.forget === true) return { status: 204, cookie: null };
  // Opening a share must not replace the access that this browser has.
  if (!access || token === undefined || access.credential.kind === 'share')
    return { status: 401, json: { error: WRONG_TOKEN } };
  return { status: 204, cookie: { token, seconds: secondsUntil(access.until, now) } };
}

function secondsUntil(time: number | undefined, now: number): number | undefined {
  return time === undefined ? undefined : (time - now) / 1_000;
}
