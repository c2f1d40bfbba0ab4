/** How hosts that work for each other meet on the link: who may ask for a program, and what a program may reach. */

import type { TLSSocket } from 'node:tls';
import type { HostTerm } from '@atrium/core/log/shared-log.js';
import { type ActiveLink, type LinkServerOptions, openStream } from './link.js';
import type { WorkServer } from './work-server.js';
import type { WorkingHosts } from './working-hosts.js';

export interface WorkLinksOptions {
  /** Absent: this host runs no programs for others. */
  readonly work: WorkServer | undefined;
  /** The programs that others run for this host, while it is the active one. */
  programs(): WorkingHosts | undefined;
  /** Whether a host is the active one, as the engine knows it now. */
  isActive(host: HostTerm): Promise<boolean>;
}

/** Only the active host may have programs run here, and only what it has lent can be reached there. */
export function workLinks({ work, programs, isActive }: WorkLinksOptions): NonNullable<LinkServerOptions['serves']> {
  return async (question, about) => {
    if (question === 'reach') return programs()?.reached(about);
    const asker = hostTermIn(about);
    if (!work || !asker || !(await isActive(asker))) return undefined;
    // The host may have lost its place while the connection was encrypted.
    return (stream) => void isActive(asker).then((isStill) => (isStill ? work.take(stream, asker) : stream.destroy()));
  };
}

/** Opens a connection from a program to what the active host has lent it. */
export async function reachLent(
  { host, term }: HostTerm,
  id: string,
  { active, secret }: { readonly active: ActiveLink | undefined; readonly secret: string },
): Promise<TLSSocket | undefined> {
  if (active?.host !== host || active.term !== term) return undefined;
  return openStream(active.link, secret, { question: 'reach', about: id });
}

/** Undefined when the text is malformed. */
function hostTermIn(text: string): HostTerm | undefined {
  try {
    const { host, term } = JSON.parse(text) as Partial<Record<keyof HostTerm, unknown>>;
    return typeof host === 'string' && typeof term === 'number' ? { host, term } : undefined;
  } catch {
    return undefined;
  }
}
