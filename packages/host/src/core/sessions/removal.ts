/** How a session goes, and may come back: taken off the list, put back on it, and forgotten in the end. */
import { ErrorCode } from '@atrium/protocol';
import { RequestError } from '../contracts/request-error.js';
import type { Service } from '../contracts/service.js';
import { DISPOSED_KEPT_MS, UNFINISHED_KEPT_MS } from '../limits.js';
import type { CreationParts } from './creation.js';

export type RemovalParts = Pick<CreationParts, 'core' | 'log' | 'catalogue' | 'notes' | 'memory' | 'news' | 'reserved'>;

export class Removal {
  readonly #parts: RemovalParts;

  constructor(parts: RemovalParts) {
    this.#parts = parts;
  }

  /** Takes a session off the list. Its history stays, and can be restored for a while. */
  async dispose(uri: string): Promise<void> {
    const { core, memory, news } = this.#parts;
    const session = await memory.open(uri);
    if (!session || session.isClosed) {
      throw new RequestError(ErrorCode.SessionNotFound, `there is no session ${uri}`);
    }
    await session.dispose();
    news.removed(uri);
    core.unsubscribeAll(uri);
    void memory.remove(session);
  }

  /** Puts a disposed session back on the list. One that was being created goes on with it. */
  async restore(uri: string): Promise<void> {
    const { core, catalogue, notes, memory, news, reserved } = this.#parts;
    const entry = catalogue.find(uri);
    if (entry?.disposedAt === undefined || reserved.has(uri)) {
      throw new RequestError(ErrorCode.SessionNotFound, `no disposed session ${uri} is kept`);
    }
    const { summary, lifecycle } = entry;
    const isNew = lifecycle === 'creating';
    await reserved.during(uri, () => {
      catalogue.set(uri, { summary, lifecycle });
      notes.setActive(uri, isNew);
      return core.writer.settled();
    });
    news.added(summary);
    if (isNew) (await memory.open(uri))?.create();
  }

  /** Forgets sessions that were disposed long ago, and what is left of those that never came to be. */
  async purge(): Promise<void> {
    const { core, catalogue, notes, reserved } = this.#parts;
    const now = core.clock.now();
    const isOld = (at: number | undefined) => at !== undefined && at < now - DISPOSED_KEPT_MS;
    const disposed = catalogue.disposed().filter(({ at }) => isOld(at));
    const unfinished = (await notes.unfinished()).filter(({ since }) => since < now - UNFINISHED_KEPT_MS);
    for (const { uri } of [...disposed, ...unfinished]) {
      // Somebody may have it back by now, or go on with it.
      const entry = catalogue.find(uri);
      if (reserved.has(uri) || (entry && !isOld(entry.disposedAt))) continue;
      await reserved.during(uri, () => this.#forget(uri));
    }
  }

  /** The notes that it is to go are the last to go: when something fails before, the next round begins again. */
  async #forget(uri: string): Promise<void> {
    const { core, catalogue, notes, log } = this.#parts;
    await log.forget(uri);
    for (const service of core.services) await this.#tell(service, uri);
    catalogue.remove(uri);
    notes.forget(uri);
    await core.writer.settled();
  }

  /** One that fails at it keeps nothing else from being forgotten. */
  async #tell(service: Service, uri: string): Promise<void> {
    try {
      await service.forgotten?.(uri);
    } catch (error) {
      const { logger } = this.#parts.core;
      logger.log('warn', 'something of a forgotten session stays', { session: uri, error: String(error) });
    }
  }
}
