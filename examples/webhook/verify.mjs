/** Checks that a webhook of Atrium is genuine, new, and not seen before. Needs nothing but Node. */
import { createHmac, timingSafeEqual } from 'node:crypto';

/** Older requests may have been recorded by somebody. */
export const TOLERANCE_MS = 5 * 60_000;

/**
 * `seen`: the ids of requests that were taken; keep it as long as the tolerance, at least. `body`: the bytes as they came, before
 * anything parsed them.
 * @param {{ headers: Readonly<Record<string, string | string[] | undefined>>, body: Buffer, secret: string, now?: number, seen: Set<string> }} request
 * @returns {{ ok: true, message: any } | { ok: false, reason: 'forged' | 'old' | 'repeated' }}
 */
export function verifyWebhook({ headers, body, secret, now = Date.now(), seen }) {
  const [, seconds, signature] = /^t=(\d{1,12}),v1=([\da-f]{64})$/.exec(String(headers['atrium-signature'])) ?? [];
  if (seconds === undefined || signature === undefined) return { ok: false, reason: 'forged' };
  const expected = createHmac('sha256', secret).update(`${seconds}.`).update(body).digest();
  if (!timingSafeEqual(expected, Buffer.from(signature, 'hex'))) return { ok: false, reason: 'forged' };
  if (Math.abs(now - Number(seconds) * 1_000) > TOLERANCE_MS) return { ok: false, reason: 'old' };
  const message = JSON.parse(body.toString('utf8'));
  const id = `${message.id}.${message.kind}`;
  if (seen.has(id)) return { ok: false, reason: 'repeated' };
  seen.add(id);
  return { ok: true, message };
}
