/** Logs that misbehave on request: slow ones, full ones, and one that outlives its host. */
import type { Commit, Stored } from '@atrium/core/log/log.js';
import { MemoryLog } from '@atrium/core/log/memory-log.js';

/** Stands for a disk: it is still there when the host that used it has stopped. */
export class KeptLog extends MemoryLog {
  override async close(): Promise<void> {}
}

type Work = 'append' | 'openChannel' | 'clientSeqs' | 'record';

/** A log whose work waits until it is let through. */
export class SlowLog extends KeptLog {
  readonly #held = new Map<Work, Promise<void>>();

  /** From now on this kind of work waits. The returned function lets it through. */
  hold(work: Work): () => void {
    const { promise, resolve } = deferred();
    this.#held.set(work, promise);
    return () => {
      this.#held.delete(work);
      resolve();
    };
  }

  override async append(commit: Commit) {
    await this.#held.get('append');
    return super.append(commit);
  }

  override async openChannel(channel: string, turns: number) {
    await this.#held.get('openChannel');
    return super.openChannel(channel, turns);
  }

  override async clientSeqs(clientId: string, epoch: number, from: number) {
    await this.#held.get('clientSeqs');
    return super.clientSeqs(clientId, epoch, from);
  }

  override async record(key: string) {
    await this.#held.get('record');
    return super.record(key);
  }
}

/** A log on a disk that can be full. */
export class FailingLog extends KeptLog {
  isFull = false;

  override async append(commit: Commit): Promise<Stored> {
    if (this.isFull) throw new Error('ENOSPC: no space left on device');
    return super.append(commit);
  }
}

function deferred(): { promise: Promise<void>; resolve: () => void } {
  let resolve = () => {};
  const promise = new Promise<void>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}
