/** The services of a host, made and put together. The order is that in which they are asked. */
import { Completions } from './completions/completions.js';
import type { HostCore } from './core.js';
import type { HostOptions } from './host.js';
import type { Service } from './service.js';

export function createServices(core: HostCore, _options: HostOptions): readonly Service[] {
  return [new Completions(core)];
}
