/** Tells everyone who shows a list of sessions what came and went, and how many there are. */
import { ROOT_CHANNEL, type SessionSummary } from '@atrium/protocol';
import type { HostCore } from '../contracts/host-core.js';
import type { Catalogue } from './catalogue.js';

export class ListNews {
  constructor(
    private readonly core: Pick<HostCore, 'notify' | 'root'>,
    private readonly catalogue: Catalogue,
  ) {}

  added(summary: SessionSummary): void {
    this.#tell('root/sessionAdded', { summary });
  }

  removed(session: string): void {
    this.#tell('root/sessionRemoved', { session });
  }

  #tell(method: string, params: object): void {
    this.core.notify(ROOT_CHANNEL, method, params);
    this.core.root.setActiveSessions(this.catalogue.count);
  }
}
