/** Turns what the user allows into what every request is judged by. */

import { digestOf } from '../../core/util/token.js';
import { bracketed, LOOPBACK_NAMES } from './host-header.js';
import { isLoopback, isWildcard } from './loopback.js';
import { normalOrigin } from './origin.js';
import type { UpgradePolicy } from './upgrade.js';

export interface AccessPolicy {
  /** Absent: everybody on this machine may connect. */
  readonly token?: string | undefined;
  /** Made up here, not chosen by the user. It does not count for other machines: nobody there could know it. */
  readonly isGenerated?: boolean;
  /** Web pages that may connect, besides the host's own. */
  readonly allowedOrigins?: readonly string[];
  /** Names under which clients may reach this host, besides the usual ones. */
  readonly allowedHosts?: readonly string[];
}

/** Without a token, whoever can reach the port is let in: that may only be this machine. */
export class TokenRequiredError extends Error {
  override readonly name = 'TokenRequiredError';
  constructor(readonly host: string) {
    super(
      `${host} can be reached from other machines, so clients need a token that you choose: ` +
        'give one with --connection-token-file <file>, or stay on this machine with --host localhost',
    );
  }

  /** For callers that want to know before they open anything. */
  static throwIfNeeded(host: string, { token, isGenerated }: AccessPolicy): void {
    if ((!token || isGenerated) && !isLoopback(host)) throw new TokenRequiredError(host);
  }
}

/** Throws when the policy cannot be used; called before a port is opened. */
export function checkAccess(host: string, policy: AccessPolicy): void {
  TokenRequiredError.throwIfNeeded(host, policy);
  for (const origin of policy.allowedOrigins ?? []) checkedOrigin(origin);
}

export interface BoundAddresses {
  /** As the user named it. */
  readonly host: string;
  readonly port: number;
  readonly addresses: readonly string[];
  /** All addresses of the machine: a wildcard stands for them. */
  readonly machine: readonly string[];
}

export function upgradePolicy(policy: AccessPolicy, { host, port, addresses, machine }: BoundAddresses): UpgradePolicy {
  const bound = isWildcard(host) ? machine : [host, ...addresses];
  const names = [...LOOPBACK_NAMES, ...[...bound, ...(policy.allowedHosts ?? [])].map(bracketed)];
  return {
    port,
    names: new Set(names),
    origins: new Set((policy.allowedOrigins ?? []).map(checkedOrigin)),
    token: policy.token ? digestOf(policy.token) : undefined,
  };
}

function checkedOrigin(text: string): string {
  const origin = normalOrigin(text);
  if (origin === undefined) throw new TypeError(`${text} is not an origin: write it as http://localhost:5173`);
  return origin;
}
