/** Which versions of AHP a client may offer, and how host and client agree on one. */
import { AHP_0_2 } from '../dialects/ahp-0.2/traits.js';
import { AHP_0_3 } from '../dialects/ahp-0.3/traits.js';

/** The version that new code speaks. */
export const PROTOCOL_VERSION = AHP_0_3.version;

/** Every version that a client may offer and get, newest first. */
export const SUPPORTED_PROTOCOL_VERSIONS = [AHP_0_3.version, AHP_0_2.version] as const;

/**
 * The hash of all schemas of this version, without their descriptions. Every change of the wire changes it, and a test
 * then asks whether the version should change, too. `npm run generate` prints the new hash.
 */
export const PROTOCOL_FINGERPRINT = 'c2282659fa16371b';

export type SupportedVersion = (typeof SUPPORTED_PROTOCOL_VERSIONS)[number];

export type Negotiation =
  | { readonly outcome: 'agreed'; readonly version: SupportedVersion }
  | { readonly outcome: 'malformed'; readonly entry: unknown }
  | { readonly outcome: 'unsupported'; readonly supportedVersions: readonly string[] };

/** Picks the highest offered version that we speak. */
export function negotiate(offered: readonly unknown[]): Negotiation {
  const malformed = offered.findIndex((entry) => parseVersion(entry) === undefined);
  if (malformed >= 0) return { outcome: 'malformed', entry: offered[malformed] };
  const spoken = offered.some(isLaterUpstream) ? SUPPORTED_BY_UPSTREAM : SUPPORTED_PROTOCOL_VERSIONS;
  const version = spoken.find((candidate) => offered.includes(candidate));
  return version ? { outcome: 'agreed', version } : { outcome: 'unsupported', supportedVersions: spoken };
}

/**
 * Upstream gave the number 0.3.0 to a different release. An offer that also holds one of its successors comes from
 * an upstream client, which would not mean our 0.3.0 by it.
 */
const SUPPORTED_BY_UPSTREAM = SUPPORTED_PROTOCOL_VERSIONS.filter((version) => version !== '0.3.0');

function isLaterUpstream(version: unknown): boolean {
  return !isIntroduced(String(version), '0.3.0');
}

/** Three numbers, or nothing: no ranges, no pre-releases, no build metadata. */
export function parseVersion(version: unknown): [number, number, number] | undefined {
  const match = typeof version === 'string' && /^(\d+)\.(\d+)\.(\d+)$/.exec(version);
  return match ? [Number(match[1]), Number(match[2]), Number(match[3])] : undefined;
}

/** Whether something introduced in `since` exists in `version`. Compares numbers, not strings: 0.10.0 follows 0.9.0. */
export function isIntroduced(since: string, version: string): boolean {
  const [a, b] = [parseVersion(since) ?? [0, 0, 0], parseVersion(version) ?? [0, 0, 0]];
  const differing = a.findIndex((part, index) => part !== b[index]);
  return differing < 0 || (a[differing] ?? 0) < (b[differing] ?? 0);
}
