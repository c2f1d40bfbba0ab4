/** The parts of a host, for tests that have to look behind the wire. */
import type { HostParts } from '../../src/compose.js';
import type { Host } from '../../src/host-options.js';

export function partsOf(host: Host): HostParts {
  return (host as unknown as { parts: HostParts }).parts;
}
