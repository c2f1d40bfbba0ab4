import { createHost, type Host, MemoryLog, scriptedAgent, transportPair } from '@atrium/host';
import { describe, expect, it, onTestFinished } from 'vitest';
import { IDLE_EXIT_MS, LOOK_EVERY_MS, watchIdle } from '../src/serve/idle-exit.js';
import { FakeClock } from './support/fake-clock.js';

interface Watched {
  readonly host: Host;
  readonly clock: FakeClock;
  /** Whether it has decided to end. */
  readonly hasEnded: () => boolean;
}

async function watched(idleMs?: number): Promise<Watched> {
  const clock = new FakeClock();
  const agent = scriptedAgent({ provider: 'mock', displayName: 'Mock', default: [{ text: 'hi' }] });
  const host = await createHost({ log: new MemoryLog(), agents: [agent] });
  onTestFinished(() => host.stop());
  const watch = watchIdle(host, { clock, ...(idleMs !== undefined && { idleMs }) });
  let reason: string | undefined;
  void watch.ended.then((given) => {
    reason = given;
  });
  onTestFinished(() => watch.stop());
  return { host, clock, hasEnded: () => reason === 'it is no longer needed' };
}

/** Somebody who is connected; the returned function hangs up. */
function client(host: Host): () => void {
  const [end, far] = transportPair();
  host.connect(end);
  return () => far.close();
}

function provider(host: Host): () => void {
  const [end, far] = transportPair();
  host.connectProvider(end, 'in-process');
  return () => far.close();
}

/** What has been decided is known one look later. */
const NEXT_LOOK_MS = LOOK_EVERY_MS;

describe('a host that nobody needs', () => {
  it('[GW-011] ends after thirty seconds, neither earlier nor later', async () => {
    const { clock, hasEnded } = await watched();
    expect(IDLE_EXIT_MS).toBe(30_000);
    await clock.advance(29_900);
    expect(hasEnded()).toBe(false);
    await clock.advance(100 + NEXT_LOOK_MS);
    expect(hasEnded()).toBe(true);
  });

  it.each([
    ['client', client],
    ['provider from outside', provider],
  ])(
    '[GW-011] stays for a %s that comes in the last moment, and begins to count anew when it leaves',
    async (_who, come) => {
      const { host, clock, hasEnded } = await watched();
      await clock.advance(29_900);
      const leave = come(host);
      await clock.advance(10 * IDLE_EXIT_MS);
      expect(hasEnded()).toBe(false);
      leave();
      await new Promise((resolve) => setImmediate(resolve));
      await clock.advance(29_900);
      expect(hasEnded()).toBe(false);
      await clock.advance(100 + 2 * NEXT_LOOK_MS);
      expect(hasEnded()).toBe(true);
    },
  );

  it('[GW-011] stays for one that came between the last two looks', async () => {
    const { host, clock, hasEnded } = await watched();
    await clock.advance(30_000);
    const leave = client(host);
    await clock.advance(NEXT_LOOK_MS);
    expect(hasEnded()).toBe(false);
    expect(host.activity.clients).toBe(1);
    leave();
  });

  it('[GW-011] decides once, and looks no more', async () => {
    const { host, clock, hasEnded } = await watched(50);
    await clock.advance(100);
    expect(hasEnded()).toBe(true);
    const leave = client(host);
    await clock.advance(IDLE_EXIT_MS);
    expect(hasEnded()).toBe(true);
    leave();
  });
});
