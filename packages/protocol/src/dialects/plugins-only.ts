/**
 * Clients may publish only plugins. Entries of other types are left out, so that they fail neither a claim nor its
 * check.
 */

/** A value that contains an `activeClient`, without entries of other types, and those entries. */
export interface PluginsOnly<Claim> {
  readonly claim: Claim;
  readonly leftOut: readonly unknown[];
}

export function pluginsOnly<Claim>(claim: Claim): PluginsOnly<Claim> {
  const entries = publishedIn(claim);
  const leftOut = entries.filter(isOtherType);
  if (leftOut.length === 0) return { claim, leftOut };
  const customizations = entries.filter((entry) => !isOtherType(entry));
  return { claim: withPublished(claim, customizations), leftOut };
}

/** The claim with the left-out entries, for a host that tells people about them. */
export function withLeftOut<Claim>({ claim, leftOut }: PluginsOnly<Claim>): Claim {
  return leftOut.length === 0 ? claim : withPublished(claim, [...publishedIn(claim), ...leftOut]);
}

function publishedIn(claim: unknown): readonly unknown[] {
  const activeClient = isRecord(claim) && isRecord(claim.activeClient) ? claim.activeClient : {};
  return Array.isArray(activeClient.customizations) ? activeClient.customizations : [];
}

function withPublished<Claim>(claim: Claim, customizations: readonly unknown[]): Claim {
  const { activeClient } = claim as { readonly activeClient?: object };
  return { ...claim, activeClient: { ...activeClient, customizations } };
}

/** An entry without a type stays: the schema check reports it. */
function isOtherType(entry: unknown): boolean {
  return isRecord(entry) && typeof entry.type === 'string' && entry.type !== 'plugin';
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
