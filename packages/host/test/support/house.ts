/** The rooms inside of a host, for tests that have to look behind the wire. */
import type { Host } from '../../src/host-options.js';
import type { House } from '../../src/house.js';

export function houseOf(host: Host): House {
  return (host as unknown as { house: House }).house;
}
