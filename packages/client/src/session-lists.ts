/** The lists of sessions in use: read from the host, told what changes, read again after an absence. */

import type { Log } from '@atrium/link';
import type { CatalogueEvent } from './catalogue.js';
import type { Peer } from './peer.js';
import { SessionList } from './session-list.js';

export class SessionLists {
  readonly #lists = new Set<SessionList>();
  readonly #log: Log;

  constructor(log: Log) {
    this.#log = log;
  }

  /** A new list, read from the host. */
  async open(peer: Peer, onClose: () => void): Promise<SessionList> {
    const list: SessionList = new SessionList(this.#log, () => {
      this.#lists.delete(list);
      onClose();
    });
    this.#lists.add(list);
    try {
      await this.#read(peer, list);
      return list;
    } catch (error) {
      list.close();
      throw error;
    }
  }

  /** What was told during an absence is not told again. */
  readAll(peer: Peer): void {
    for (const list of this.#lists) {
      this.#read(peer, list).catch((error) => this.#log('the list of sessions could not be read again', error));
    }
  }

  apply(event: CatalogueEvent): void {
    for (const list of this.#lists) list.apply(event);
  }

  closeAll(): void {
    for (const list of [...this.#lists]) list.close();
  }

  #read(peer: Peer, list: SessionList): Promise<void> {
    list.expect();
    return new Promise((resolve, reject) => {
      peer.call('listSessions', {}, (outcome) => {
        if (!outcome.ok) return reject(outcome.error);
        list.replace(outcome.value.items);
        resolve();
      });
    });
  }
}
