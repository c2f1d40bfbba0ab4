/** Ends a host that was started on demand when nobody has needed it for a while. */
import type { Host } from '@atrium/host';

/** From the last client, running turn and provider that came by itself to the end. */
export const IDLE_EXIT_MS = 30_000;
const LOOK_EVERY_MS = 1_000;

export interface IdleWatch {
  /** Fulfilled with a reason when the host has been idle long enough. */
  readonly ended: Promise<string>;
  stop(): void;
}

export function watchIdle(host: Host, idleMs: number = IDLE_EXIT_MS): IdleWatch {
  let end: (reason: string) => void = () => {};
  const ended = new Promise<string>((resolve) => {
    end = resolve;
  });
  let idleSince = performance.now();
  const timer = setInterval(
    () => {
      const { clients, providers, ownProviders, working } = host.activity;
      if (clients + providers - ownProviders + working > 0) idleSince = performance.now();
      else if (performance.now() - idleSince >= idleMs) end('nobody needs it');
    },
    Math.min(LOOK_EVERY_MS, idleMs),
  );
  return { ended, stop: () => clearInterval(timer) };
}
