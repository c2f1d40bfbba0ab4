/** Which versions of AHP a client may offer, and how host and client agree on one and on the family that speaks it. */
import { isIntroduced } from './versions.js';

/** The version whose shapes `ahp-1` has. */
export const AHP_1_VERSION = '1.0.0';

/**
 * The hash of all schemas of this version, without their descriptions. Every change of the wire changes it, and a test
 * then asks whether the change is intended. `npm run generate` prints the new hash.
 */
export const AHP_1_FINGERPRINT = 'cc9d1ecd5f356485';

/** A family of versions that one dialect speaks, and the lowest version in it. The agreed patch selects the delta. */
export const BASELINES = [
  { family: 'ahp-1', baseline: '1.0.0' },
  { family: 'ahp-0.9', baseline: '0.9.0' },
  { family: 'ahp-0.7', baseline: '0.7.0' },
  { family: 'ahp-0.6', baseline: '0.6.0' },
  { family: 'ahp-0.5', baseline: '0.5.0' },
  { family: 'ahp-0.3', baseline: '0.3.0' },
  { family: 'ahp-0.2', baseline: '0.2.0' },
] as const;

/** The lowest version of each family, newest first: what a host says it speaks. */
export const SUPPORTED_PROTOCOL_VERSIONS: readonly string[] = BASELINES.map(({ baseline }) => baseline);

export type DialectFamily = (typeof BASELINES)[number]['family'];

export type Agreement =
  | { readonly outcome: 'agreed'; readonly version: string; readonly family: DialectFamily }
  | { readonly outcome: 'malformed'; readonly entry: unknown }
  | { readonly outcome: 'unsupported'; readonly supportedVersions: readonly string[] };

/**
 * Picks the highest offered version in the caret range of a baseline, and answers with exactly that string, even when
 * it is newer than anything known here. The order of the offer does not matter.
 */
export function agreeOnVersion(offered: readonly unknown[]): Agreement {
  const malformed = offered.findIndex((entry) => parsed(entry) === undefined);
  if (malformed >= 0) return { outcome: 'malformed', entry: offered[malformed] };
  const versions = offered as readonly string[];
  const isUpstream = versions.some((version) => !isIntroduced(version, OURS.baseline));
  const spoken = BASELINES.filter((entry) => !(isUpstream && entry.family === OURS.family));
  const highest = versions
    .filter((version) => spoken.some((entry) => isInRange(version, entry)))
    .reduce<string | undefined>((high, version) => (high && isIntroduced(version, high) ? high : version), undefined);
  const range = spoken.find((entry) => highest !== undefined && isInRange(highest, entry));
  if (highest && range) return { outcome: 'agreed', version: highest, family: range.family };
  return { outcome: 'unsupported', supportedVersions: spoken.map(({ baseline }) => baseline) };
}

/**
 * Our own 0.3.0. Upstream gave the number to a different release: an offer with any higher version comes from an
 * upstream client, which would not mean ours. Patches of it are not ours either.
 */
const OURS = { family: 'ahp-0.3', baseline: '0.3.0' } as const satisfies (typeof BASELINES)[number];

function isInRange(version: string, { family, baseline }: (typeof BASELINES)[number]): boolean {
  return family === OURS.family ? version === baseline : isInCaretRange(version, baseline);
}

/** Same major; below 1.0 also the same minor, below 0.1 also the same patch; and not lower than the baseline. */
export function isInCaretRange(version: string, baseline: string): boolean {
  const [a, b] = [parsed(version), parsed(baseline)];
  if (!a || !b || !isIntroduced(baseline, version)) return false;
  const leading = b.findIndex((part) => part > 0);
  return b.every((part, index) => (leading >= 0 && index > leading) || a[index] === part);
}

/** Parses three decimal numbers without leading zeros; undefined for anything else. */
function parsed(version: unknown): number[] | undefined {
  const isPlain = typeof version === 'string' && /^(?:0|[1-9]\d*)(?:\.(?:0|[1-9]\d*)){2}$/.test(version);
  return isPlain ? version.split('.').map(Number) : undefined;
}
