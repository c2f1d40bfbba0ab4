/**
 * Random interleavings of two clients, a host that defers, rejects and acts by itself, lost frames and reconnects.
 * Each run is one seed; a failure names it. Add seeds that ever failed to `KNOWN`.
 */
import type { ActionEnvelope, StateAction } from '@atrium/protocol/ahp-1';
import { describe, expect, it } from 'vitest';
import {
  ActionOutcomeUnknownError,
  ActionRejectedError,
  type Client,
  connect,
  type Subscription,
} from '../src/index.js';
import { newHost } from './support/connected.js';
import { FakeClock, settle } from './support/fake-clock.js';
import { type FakeHost, Refusal } from './support/fake-host.js';
import { ManualLink } from './support/manual-link.js';
import { Random } from './support/random.js';
import { drafted, ended, ONE, queued, started } from './support/states.js';

const RUNS = Number(process.env.RUNS ?? 60);
const STEPS = 120;
const KNOWN: readonly number[] = [1, 2, 3];
const FIRST = Number(process.env.SEED ?? Math.floor(Math.random() * 2 ** 31));
const seeds = process.env.SEED ? [FIRST] : [...KNOWN, ...Array.from({ length: RUNS }, (_, index) => FIRST + index)];

type Fate = { at: 'waiting' } | { at: 'accepted'; serverSeq: number } | { at: 'failed'; error: Error };

interface Player {
  readonly client: Client;
  readonly handle: Subscription<'chat'>;
  readonly fates: { action: StateAction; fate: Fate }[];
  link: ManualLink;
}

class World {
  readonly host: FakeHost = newHost();
  readonly clock = new FakeClock();
  readonly players: Player[] = [];
  /** Every state that the host ever had. */
  readonly history = new Set<string>();
  /** Whether the host has ever forgotten its clients. */
  forgot = false;
  #names = 0;

  constructor(readonly random: Random) {
    this.host.judge = (action) => (JSON.stringify(action).includes('bad') ? 'bad' : undefined);
    this.host.defers = ({ type }) =>
      type === 'chat/isArchivedChanged' && this.host.chatOf(ONE).activeTurn !== undefined;
    const act = this.host.act.bind(this.host);
    this.host.act = (...args) => {
      const envelope = act(...args);
      this.remember();
      return envelope;
    };
    this.remember();
  }

  remember(): void {
    this.history.add(canonical(this.host.chatOf(ONE)));
  }

  name(prefix: string): string {
    this.#names += 1;
    return `${prefix}${this.#names}`;
  }

  async join(clientId: string): Promise<void> {
    let link = new ManualLink();
    const transport = () => {
      link = new ManualLink();
      if (player) player.link = link;
      // A host forgets the old connection of a client that comes back.
      const others = this.host.connections.filter((each) => each.clientId !== clientId);
      this.host.connections.splice(0, this.host.connections.length, ...others);
      this.host.accept(link.host);
      return link.client;
    };
    let player: Player | undefined;
    const connecting = connect({ transport, clientId, clock: fixedNow(this.clock), random: () => 0, log: () => {} });
    const client = await pumped(connecting, () => link);
    const handle = await pumped(client.subscribe(ONE), () => link);
    player = { client, handle, fates: [], link };
    this.players.push(player);
  }

  step(): void {
    const player = this.random.pick(this.players);
    const roll = this.random.below(100);
    if (roll < 25) this.dispatch(player);
    else if (roll < 40) this.hostActs();
    else if (roll < 65) player.link.moveToHost();
    else if (roll < 92) player.link.moveToClient();
    else if (roll < 96) player.link.break();
    else this.reconfigure();
  }

  dispatch(player: Player): void {
    const action = this.ownAction();
    const entry: Player['fates'][number] = { action, fate: { at: 'waiting' } };
    player.fates.push(entry);
    player.handle.dispatch(action as never).then(
      ({ serverSeq }) => {
        entry.fate = { at: 'accepted', serverSeq };
      },
      (error: Error) => {
        entry.fate = { at: 'failed', error };
      },
    );
  }

  ownAction(): StateAction {
    const bad = this.random.chance(0.15) ? 'bad-' : '';
    const kinds = [
      () => queued(this.name(`${bad}q`)),
      () => queued(this.name(`${bad}q`)),
      () => drafted(this.name(`${bad}title`)),
      () => ({ type: 'chat/isArchivedChanged', isArchived: this.random.chance(0.5), _meta: { why: bad } }) as const,
      () => cancelled(this.host.chatOf(ONE).activeTurn?.id ?? 'none'),
    ];
    return this.random.pick(kinds)();
  }

  hostActs(): void {
    const { activeTurn } = this.host.chatOf(ONE);
    if (!activeTurn) {
      this.host.act(ONE, started(this.name('t')));
      return;
    }
    const part = activeTurn.responseParts.at(-1);
    if (!part || this.random.chance(0.2)) {
      const id = this.name('p');
      this.host.act(ONE, {
        type: 'chat/responsePart',
        turnId: activeTurn.id,
        part: { kind: 'markdown', id, content: '' },
      });
    } else if ('id' in part && this.random.chance(0.7)) {
      this.host.act(ONE, { type: 'chat/delta', turnId: activeTurn.id, partId: part.id, content: this.name('x') });
    } else {
      this.host.act(ONE, ended(activeTurn.id));
      this.host.release();
    }
  }

  reconfigure(): void {
    this.host.resumeBy = this.random.pick(['replay', 'snapshot']);
    this.host.scripts.clear();
    if (!this.random.chance(0.15)) return;
    this.forgot = true;
    this.host.scripts.set('reconnect', () => {
      throw new Refusal(-32602);
    });
  }

  /** Nothing in the middle of it is ever something that the host never was. */
  checkMirrors(): void {
    for (const { handle } of this.players) expect(this.history).toContain(canonical(handle.confirmed));
  }

  /** What waits is what is pending, through any number of connections. */
  checkPending(): void {
    for (const { handle, fates } of this.players) {
      const waiting = [...fates.keys()].filter((index) => fates[index]?.fate.at === 'waiting');
      expect(handle.pending.map(({ clientSeq }) => clientSeq)).toEqual(waiting.map((index) => index + 1));
    }
  }

  /** Everybody comes back, every frame arrives, the host decides what it held. */
  async quiesce(): Promise<void> {
    for (let round = 0; round < 200; round += 1) {
      await this.clock.advance(500);
      for (const { link } of this.players) {
        for (let frames = 0; frames < 50; frames += 1) {
          link.moveToHost();
          link.moveToClient();
        }
      }
      this.host.release();
      await settle();
      if (this.players.every(({ client, link }) => client.status.at === 'open' && link.isQuiet)) return;
    }
    throw new Error('no peace');
  }
}

/** The text of a value, whatever order its members were set in. */
function canonical(value: unknown): string {
  const sorted = (_: string, inner: unknown) =>
    typeof inner === 'object' && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)))
      : inner;
  return JSON.stringify(value, sorted);
}

const cancelled = (turnId: string) => ({ type: 'chat/turnCancelled', turnId, duration: 2 }) as const;

/** States can be compared to the letter. */
function fixedNow(clock: FakeClock) {
  return { now: () => 1_000, after: clock.after.bind(clock) };
}

async function pumped<T>(promise: Promise<T>, link: () => ManualLink): Promise<T> {
  for (let round = 0; round < 5; round += 1) {
    await settle();
    link().moveToHost();
    link().moveToClient();
  }
  return promise;
}

function checkEnd({ host, players, forgot }: World): void {
  const truth = JSON.parse(JSON.stringify(host.chatOf(ONE)));
  for (const { client, handle, fates } of players) {
    expect(handle.pending).toEqual([]);
    expect(JSON.parse(JSON.stringify(handle.confirmed))).toEqual(truth);
    expect(handle.state).toBe(handle.confirmed);
    const own = host.log.filter(({ origin }) => origin?.clientId === client.clientId);
    const seqs = own.map(({ origin }) => origin?.clientSeq);
    expect(new Set(seqs).size).toBe(seqs.length);
    for (const [index, { action, fate }] of fates.entries()) {
      const logged = own.find(({ origin }) => origin?.clientSeq === index + 1);
      checkFate(fate, logged, action);
      const isUnknown = fate.at === 'failed' && fate.error instanceof ActionOutcomeUnknownError;
      if (isUnknown && host.extended && !forgot) expect(host.decided).toContain(`${client.clientId}/${index + 1}`);
    }
  }
}

/** What the caller was told is what happened. */
function checkFate(fate: Fate, logged: ActionEnvelope | undefined, action: StateAction): void {
  if (fate.at === 'accepted') expect(logged).toMatchObject({ serverSeq: fate.serverSeq, action });
  else if (fate.at === 'failed' && fate.error instanceof ActionRejectedError) expect(logged).toBeUndefined();
  else expect(fate).toMatchObject({ at: 'failed', error: expect.any(ActionOutcomeUnknownError) });
}

describe('any interleaving of two clients, drops and reconnects', () => {
  it.each(seeds)('[REL-011] [CLI-010] [CLI-012] ends with every mirror equal to the host, seed %i', async (seed) => {
    const world = new World(new Random(seed));
    world.host.extended = world.random.chance(0.8);
    await world.join('left');
    await world.join('right');
    for (let step = 0; step < STEPS; step += 1) {
      world.step();
      world.checkMirrors();
      if (step % 4 !== 0) continue;
      await world.clock.advance(world.random.below(300));
      world.checkPending();
    }
    await world.quiesce();
    checkEnd(world);
  });
});
