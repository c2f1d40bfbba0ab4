/** Our own 0.3.0, and the comparison of version numbers. `agreement.ts` decides what host and client agree on. */
import { AHP_0_3 } from '../dialects/ahp-0.3/traits.js';

export const AHP_0_3_VERSION = AHP_0_3.version;

/**
 * The hash of all schemas of this version, without their descriptions. Every change of the wire changes it, and a test
 * then asks whether the version should change, too. `npm run generate` prints the new hash.
 */
export const AHP_0_3_FINGERPRINT = 'c2282659fa16371b';

/** Parses three numbers: no ranges, no pre-releases, no build metadata. */
function parseVersion(version: unknown): [number, number, number] | undefined {
  const match = typeof version === 'string' && /^(\d+)\.(\d+)\.(\d+)$/.exec(version);
  return match ? [Number(match[1]), Number(match[2]), Number(match[3])] : undefined;
}

/** Whether something introduced in `since` exists in `version`. Compares numbers, not strings: 0.10.0 follows 0.9.0. */
export function isIntroduced(since: string, version: string): boolean {
  const [a, b] = [parseVersion(since) ?? [0, 0, 0], parseVersion(version) ?? [0, 0, 0]];
  const differing = a.findIndex((part, index) => part !== b[index]);
  return differing < 0 || (a[differing] ?? 0) < (b[differing] ?? 0);
}
