/** Makes random tokens and compares them in constant time. */
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';

export const TOKEN_BYTES = 32;

export function newToken(random: (bytes: number) => Buffer = randomBytes): string {
  return random(TOKEN_BYTES).toString('base64url');
}

/** What the host keeps of a token to compare with. */
export type TokenDigest = Buffer;

export function digestOf(token: string): TokenDigest {
  return createHash('sha256').update(token, 'utf8').digest();
}

/** Digests have one length, so the comparison takes the same time whatever is offered. */
export function matchesToken(offered: string, expected: TokenDigest): boolean {
  return timingSafeEqual(digestOf(offered), expected);
}
