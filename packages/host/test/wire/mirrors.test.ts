import type { StateAction } from '@atrium/protocol';
import { expect, it } from 'vitest';
import { KeptLog } from '../support/logs.js';
import { comparable, Mirror } from '../support/mirror.js';
import { PuppetAgent } from '../support/puppet-agent.js';
import { startHost } from '../support/session-fixture.js';
import { type RawClient, ROOT, settle, type TestHost } from '../support/test-host.js';

/** Small numbers from a seed, the same on every machine. */
function dice(seed: number): (sides: number) => number {
  let state = seed >>> 0;
  return (sides) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) % sides;
  };
}

const SESSIONS = ['ahp-session:/a', 'ahp-session:/b'];

/** A client that comes and goes, and keeps a mirror of everything it heard. */
class Guest {
  readonly mirror = new Mirror();
  #raw: RawClient | undefined;
  #read = 0;
  #clientSeq = 0;
  /** What it has dispatched and not seen come back. */
  readonly #pending = new Map<number, { channel: string; action: StateAction }>();

  constructor(readonly clientId: string) {}

  get isConnected(): boolean {
    return this.#raw !== undefined;
  }

  async arrive(host: TestHost): Promise<void> {
    const raw = host.connect();
    const isKnown = this.mirror.has(ROOT);
    const channels = [ROOT, ...SESSIONS];
    if (!isKnown) await raw.initialize(this.clientId, { initialSubscriptions: channels });
    else await this.#resume(raw, channels);
    for (const [clientSeq, { channel, action }] of this.#pending) raw.dispatch(channel, action, clientSeq);
    this.#raw = raw;
    this.read(1);
  }

  async #resume(raw: RawClient, subscriptions: string[]): Promise<void> {
    const { settled } = await raw.request<{ settled: number[] }>('reconnect', {
      channel: ROOT,
      clientId: this.clientId,
      lastSeenServerSeq: this.mirror.lastSeen,
      subscriptions,
      pending: [...this.#pending.keys()],
    });
    for (const clientSeq of settled) this.#pending.delete(clientSeq);
  }

  dispatch(channel: string, action: StateAction): void {
    this.#pending.set(++this.#clientSeq, { channel, action });
    this.#raw?.dispatch(channel, action, this.#clientSeq);
  }

  /** Takes in some of what has arrived; the rest is lost if the line breaks now. */
  read(messages = Number.POSITIVE_INFINITY): void {
    const received = this.#raw?.received ?? [];
    const end = Math.min(received.length, this.#read + messages);
    for (const message of received.slice(this.#read, end)) {
      this.mirror.take(message);
      const origin = message.params?.origin as { clientId: string; clientSeq: number } | undefined;
      if (origin?.clientId === this.clientId) this.#pending.delete(origin.clientSeq);
    }
    this.#read = end;
  }

  leave(): void {
    this.#raw?.disconnect();
    this.#raw = undefined;
    this.#read = 0;
  }

  get waitsFor(): number {
    return this.#pending.size;
  }
}

/** A failure prints the seed to run again with. */
const seed = Number(process.env.ATRIUM_SEED ?? Date.now() % 1_000_000);

it.each([0, 1, 2, 3, 4, 5, 6, 7])(
  '[REL-011] whoever comes and goes, every mirror equals the host (run %d)',
  async (run) => {
    const roll = dice(seed + run);
    const where = `run 0 with ATRIUM_SEED=${seed + run}`;
    const log = new KeptLog();
    const agent = new PuppetAgent();
    let host = await startHost({ log, scripts: [], agents: [agent] });
    const maker = await host.client('maker');
    for (const uri of SESSIONS) await maker.session(uri);
    const guests = ['ann', 'ben', 'cat'].map((clientId) => new Guest(clientId));
    let turns = 0;

    const act = async (guest: Guest): Promise<void> => {
      const uri = SESSIONS[roll(SESSIONS.length)] ?? '';
      const running = agent.turns.at(-1);
      switch (roll(9)) {
        case 0:
          if (guest.isConnected) guest.leave();
          else await guest.arrive(host);
          return;
        case 1:
          return guest.dispatch(uri, { type: 'session/titleChanged', title: `${guest.clientId} ${roll(1_000)}` });
        case 2:
          return guest.dispatch(uri, { type: 'session/modelChanged', model: { id: `model-${roll(1_000)}` } });
        case 3:
          return guest.dispatch(uri, {
            type: 'session/turnStarted',
            turnId: `t${++turns}`,
            userMessage: { text: 'go' },
          });
        case 4:
          for (let count = roll(20); count > 0; count--) running?.turn.text(`${count} `);
          return;
        case 5:
          return running?.finish();
        case 6:
          return guest.dispatch(uri, { type: 'session/turnCancelled', turnId: `t${turns}` });
        case 7:
          return guest.read(roll(10));
        default:
          return settle(1);
      }
    };

    for (let step = 0; step < 150; step++) {
      const guest = guests[roll(guests.length)];
      if (guest) await act(guest);
      if (step === 75) {
        for (const each of guests) each.leave();
        await host.stop();
        host = await startHost({ log, scripts: [], agents: [agent] });
      }
    }

    for (const guest of guests) if (!guest.isConnected) await guest.arrive(host);
    for (let round = 0; round < 5; round++) {
      await settle();
      for (const { finish } of agent.turns) finish();
    }
    const witness = await host.client('witness');
    for (const guest of guests) {
      guest.read();
      expect(guest.waitsFor, where).toBe(0);
      for (const uri of [ROOT, ...SESSIONS]) {
        expect(guest.mirror.state(uri), where).toEqual(comparable(await witness.state(uri)));
      }
    }
    const ids = (await log.read({ after: 0 })).flatMap(({ origin }) => (origin ? [JSON.stringify(origin)] : []));
    expect(new Set(ids).size, where).toBe(ids.length);
  },
);
