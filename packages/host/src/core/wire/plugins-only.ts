/** Clients contribute plugins and nothing else. An entry of another type is left out, and the claim around it stands. */
import { isRecord } from '../util/shape.js';

/** An action or parameters with an `activeClient`; anything else comes back as it is. */
export function pluginsOnly<Claim>(claim: Claim): { readonly claim: Claim; readonly leftOut: number } {
  const activeClient = isRecord(claim) && isRecord(claim.activeClient) ? claim.activeClient : undefined;
  const entries: unknown = activeClient?.customizations;
  if (!Array.isArray(entries)) return { claim, leftOut: 0 };
  const customizations = entries.filter((entry) => !isOtherType(entry));
  const leftOut = entries.length - customizations.length;
  if (leftOut === 0) return { claim, leftOut };
  return { claim: { ...claim, activeClient: { ...activeClient, customizations } }, leftOut };
}

/** What has no type at all is a mistake, and for the check to find. */
function isOtherType(entry: unknown): boolean {
  return isRecord(entry) && typeof entry.type === 'string' && entry.type !== 'plugin';
}
