/** Ends a host that a command started, after a while without clients, turns, terminals, providers and automations. */
import { type Clock, type Host, systemClock } from '@atrium/host';

/** From the end of the last client, turn, terminal and independent provider to the exit. */
export const IDLE_EXIT_MS = 30_000;
/** A client that comes and goes between two checks stays unnoticed. */
export const LOOK_EVERY_MS = 100;

interface IdleWatch {
  /** Resolves with a reason when the host has been idle long enough. */
  readonly ended: Promise<string>;
  stop(): void;
}

interface IdleOptions {
  readonly idleMs?: number;
  readonly clock?: Clock;
}

/**
 * Counts idle checks, so that a jump of the clock does not matter. A client that is connected at the last check cancels
 * the exit.
 * The host accepts no later client, because it closes the port directly after the last check.
 */
export function watchIdle(host: Pick<Host, 'activity'>, options: IdleOptions = {}): IdleWatch {
  const { idleMs = IDLE_EXIT_MS, clock = systemClock } = options;
  const stepMs = Math.min(LOOK_EVERY_MS, idleMs);
  let end: (reason: string) => void = () => {};
  const ended = new Promise<string>((resolve) => {
    end = resolve;
  });
  let cancel = () => {};
  const lookAfter = (idleForMs: number) => {
    cancel = clock.after(stepMs, () => {
      const next = isNeeded(host) ? 0 : idleForMs + stepMs;
      if (next > idleMs) end('it is no longer needed');
      else lookAfter(next);
    });
  };
  lookAfter(0);
  return { ended, stop: () => cancel() };
}

/** Providers that the host itself has started do not keep it running. */
function isNeeded({ activity }: Pick<Host, 'activity'>): boolean {
  const { clients, providers, ownProviders, working, terminals, automations } = activity;
  return clients + providers - ownProviders + working + terminals + automations > 0;
}
