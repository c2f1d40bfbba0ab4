/** The calls of a server that wait for a person to sign in. */
import { ToolFailure } from '@atrium/core/contracts/tool.js';
import type { Clock } from '@atrium/core/util/clock.js';

/**
 * The result for a waiting call: it may continue, its server is gone, or it fails for this reason. Undefined: nothing
 * yet.
 */
type Found = 'signed-in' | 'lost' | ToolFailure | undefined;

interface Wait {
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
  readonly server: string;
}

export class SignInWaits {
  readonly #rechecks = new Set<() => void>();

  /** Something changed that calls may be waiting for. */
  recheck(): void {
    for (const look of [...this.#rechecks]) look();
  }

  async until({ clock, signal, timeoutMs, server }: Wait, find: () => Found): Promise<void> {
    const ended = new AbortController();
    try {
      await new Promise<void>((resolve, reject) => {
        const fail = (code: string, message: string): void => reject(new ToolFailure(code, message));
        const look = (): void => {
          const found = find();
          if (found === 'signed-in') resolve();
          else if (found === 'lost') fail('SERVER_LOST', `The MCP server ${server} was lost before you signed in.`);
          else if (found) reject(found);
        };
        const cancelled = (): void => fail('CANCELLED', 'Cancelled before you signed in.');
        const late = (): void =>
          fail('AUTH_REQUIRED', `Nobody signed in to the MCP server ${server} within ${timeoutMs / 60_000} minutes.`);
        this.#rechecks.add(look);
        signal.addEventListener('abort', cancelled, { once: true });
        const disarm = clock.after(timeoutMs, late);
        ended.signal.addEventListener('abort', () => {
          this.#rechecks.delete(look);
          signal.removeEventListener('abort', cancelled);
          disarm();
        });
        if (signal.aborted) cancelled();
        look();
      });
    } finally {
      ended.abort();
    }
  }
}
