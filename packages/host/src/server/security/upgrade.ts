/** Decides who may connect, from the facts of the request alone. Host and Origin come first, then the token. */

import { matchesToken, type TokenDigest } from '../../core/util/token.js';
import { isOwnHost } from './host-header.js';
import { isAllowedOrigin } from './origin.js';

/** Every value of a header, as it came: a header that is there twice is a trick. */
export interface UpgradeFacts {
  /** The request target, `/?token=…`. */
  readonly url: string;
  readonly host: readonly string[];
  readonly origin: readonly string[];
  readonly authorization: readonly string[];
}

export interface UpgradePolicy {
  readonly port: number;
  readonly names: ReadonlySet<string>;
  readonly origins: ReadonlySet<string>;
  /** Absent when everybody on this machine may connect. */
  readonly token?: TokenDigest | undefined;
}

export type Verdict =
  | { readonly ok: true }
  | { readonly ok: false; readonly status: 401 | 403; readonly reason: string };

const ACCEPTED: Verdict = { ok: true };
const WRONG_HOST = refused(403, 'This Host name is not one of ours. Use localhost, or list it in --allowed-hosts.');
const WRONG_ORIGIN = refused(403, 'This Origin may not connect. List it in --allowed-origins if it should.');
/** One answer for every way of not having the token: it tells nothing about the token. */
const WRONG_TOKEN = refused(
  401,
  'The connection token is missing or wrong. Send it as Authorization: Bearer or ?token=.',
);

export function judgeUpgrade(facts: UpgradeFacts, policy: UpgradePolicy): Verdict {
  const [host, anotherHost] = facts.host;
  if (host === undefined || anotherHost !== undefined || !isOwnHost(host, policy)) return WRONG_HOST;
  const [origin, anotherOrigin] = facts.origin;
  if (anotherOrigin !== undefined) return WRONG_ORIGIN;
  if (origin !== undefined && !isAllowedOrigin(origin, host, policy)) return WRONG_ORIGIN;
  if (policy.token === undefined) return ACCEPTED;
  return matchesToken(offeredToken(facts), policy.token) ? ACCEPTED : WRONG_TOKEN;
}

/** The one token that the request offers. Empty, which is never right, when there is none or more than one. */
function offeredToken(facts: UpgradeFacts): string {
  const offers = [...facts.authorization.map(bearerToken), ...queryTokens(facts.url)];
  const [first = ''] = offers;
  return offers.every((offer) => offer === first) ? first : '';
}

function bearerToken(authorization: string): string {
  return /^bearer +(\S+)$/i.exec(authorization)?.[1] ?? '';
}

/** Percent-encoding is undone once. A repeated key counts as an empty offer, even when both say the same. */
function queryTokens(url: string): string[] {
  const query = new URLSearchParams(/^[^#?]*\?([^#]*)/.exec(url)?.[1] ?? '');
  return ['token', 'tkn'].flatMap((key) => {
    const values = query.getAll(key);
    return values.length > 1 ? [''] : values;
  });
}

function refused(status: 401 | 403, reason: string): Verdict {
  return { ok: false, status, reason };
}
