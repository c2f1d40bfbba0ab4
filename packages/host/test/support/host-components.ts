/** The components of a host, for tests that have to look behind the wire. */
import type { HostComponents } from '../../src/compose.js';
import type { Host } from '../../src/host-options.js';

export function componentsOf(host: Host): HostComponents {
  return (host as unknown as { components: HostComponents }).components;
}
