/**
 * Against a host of somebody else, which has nothing but the protocol, in both versions. Each random run is one seed; a
 * failure names it. Add seeds that ever failed to `KNOWN`.
 */
import type { ChatState, StateAction, Turn } from '@atrium/protocol/ahp-1';
import { describe, expect, it } from 'vitest';
import {
  ActionOutcomeUnknownError,
  ActionRejectedError,
  type Client,
  connect,
  memoryPair,
  type OpenSession,
  type Transport,
} from '../src/index.js';
import { FakeClock, settle } from './support/fake-clock.js';
import { ForeignHost } from './support/foreign-host.js';
import { ManualLink } from './support/manual-link.js';
import { Random } from './support/random.js';
import { drafted, message, NOON, queued, titled } from './support/states.js';

const VERSIONS = [
  ['1.0.0', ['1.0.0', '0.9.0']],
  ['0.9.0', ['0.9.0']],
] as const;

interface Scene {
  readonly host: ForeignHost;
  readonly client: Client;
  readonly clock: FakeClock;
  drop(): Promise<void>;
  /** What the host sends is lost from now on. */
  mute(): void;
}

async function scene(versions: readonly string[], replayMax?: number): Promise<Scene> {
  const host = new ForeignHost({ versions, ...(replayMax !== undefined && { replayMax }) });
  const clock = new FakeClock();
  let far: Transport | undefined;
  const transport = () => {
    const [near, other] = memoryPair();
    far = other;
    host.accept(other);
    return near;
  };
  const client = await connect({ transport, clock, random: () => 0, clientId: 'me', log: () => {} });
  const drop = async () => {
    far?.close();
    await settle();
  };
  const mute = () => far && Object.assign(far, { send: () => {} });
  return { host, client, clock, drop, mute };
}

describe.each(VERSIONS)('[CLI-032] a foreign host of %s', (version, versions) => {
  it('is spoken to in the highest version that both know', async () => {
    const { client } = await scene(versions);
    expect(client.status).toMatchObject({ at: 'open', protocolVersion: version });
    expect(client.host.serverInfo).toEqual({ name: 'somebody-else' });
  });

  it('serves a whole conversation: create, open, ask, read the answer, list, dispose', async () => {
    const { client, host } = await scene(versions);
    const list = await client.sessions();
    const uri = await client.createSession({ workingDirectories: ['file:///w'] });
    const open = await client.open(uri);
    await open.dispatch({ type: 'chat/turnStarted', turnId: 't', message: message('Say it back') });
    host.answer(open.chat.uri);
    await settle();
    expect(open.state.chat.turns[0]?.responseParts).toMatchObject([{ content: 'Say it back ' }]);
    expect(open.state).toEqual({ session: host.session(uri), chat: host.chat(open.chat.uri) });
    for (let more = 0; more < 4; more += 1) await client.createSession();
    expect(await client.listSessions()).toHaveLength(5);
    await settle();
    expect(list.items).toHaveLength(5);
    await client.disposeSession(uri);
    await settle();
    expect(open.isGone).toBe(true);
    expect(list.items).toHaveLength(4);
  });

  it('has further chats, and takes them away', async () => {
    const { client, host } = await scene(versions);
    const uri = await client.createSession();
    const first = await client.open(uri);
    const chat = await client.createChat(uri);
    const second = await client.open(uri, { chat });
    await second.dispatch(queued('q'));
    expect(host.chat(chat).queuedMessages).toHaveLength(1);
    expect(first.state.chat.queuedMessages).toBeUndefined();
    expect(first.state.session.chats).toHaveLength(2);
    host.states.delete(chat);
    host.act(uri, { type: 'session/chatRemoved', chat });
    await settle();
    expect([first.isGone, second.isGone]).toEqual([false, true]);
  });

  it('pages history by its own cursors', async () => {
    const { client, host } = await scene(versions);
    const uri = await client.createSession();
    const chat = host.session(uri).defaultChat ?? '';
    for (let count = 0; count < 10; count += 1) {
      const turn = { turnId: `t${count}`, startedAt: NOON, message: message(`${count}`) };
      host.act(chat, { type: 'chat/turnStarted', ...turn });
      host.answer(chat);
    }
    const open = await client.open(uri, { turns: { last: 2 } });
    expect(open.chat.state.turns.map(({ id }) => id)).toEqual(['t8', 't9']);
    expect([open.chat.hasOlder, open.chat.olderCount]).toEqual([true, undefined]);
    expect(await open.chat.loadOlder(4)).toBe(6);
    expect(await open.chat.loadOlder(4)).toBe(2);
    expect(open.chat.state).toEqual(host.chat(chat));
    expect(open.chat.hasOlder).toBe(false);
  });

  it.each([1_000, 0])('is resumed after a drop (it can replay %i actions)', async (replayMax) => {
    const { client, host, clock, drop } = await scene(versions, replayMax);
    const open = await client.open(await client.createSession());
    await drop();
    host.act(open.session.uri, titled('meanwhile'));
    host.act(open.chat.uri, queued('meanwhile'));
    const offline = open.dispatch(drafted('offline'));
    await clock.advance(2_000);
    await offline;
    expect(client.status).toMatchObject({ began: replayMax > 0 ? 'replay' : 'snapshot' });
    expect(open.state).toEqual({ session: host.session(open.session.uri), chat: host.chat(open.chat.uri) });
    expect(host.log.filter(({ origin }) => origin?.clientId === 'me')).toHaveLength(1);
  });

  it('is greeted anew when it has forgotten the client', async () => {
    const { client, host, clock, drop } = await scene(versions);
    const open = await client.open(await client.createSession());
    await drop();
    host.forget();
    host.act(open.chat.uri, queued('meanwhile'));
    const offline = open.dispatch(drafted('offline'));
    await clock.advance(2_000);
    await offline;
    expect(client.status).toMatchObject({ at: 'open', began: 'initialize', protocolVersion: version });
    expect(open.state).toEqual({ session: host.session(open.session.uri), chat: host.chat(open.chat.uri) });
    expect(host.chat(open.chat.uri).queuedMessages).toHaveLength(1);
  });

  it('is never sent an action twice that it may have taken', async () => {
    const { client, host, clock, drop, mute } = await scene(versions);
    const open = await client.open(await client.createSession());
    mute();
    const taken = open.dispatch(queued('q'));
    await settle();
    await drop();
    host.forget();
    await clock.advance(2_000);
    await expect(taken).rejects.toBeInstanceOf(ActionOutcomeUnknownError);
    expect(host.heard.filter(({ method }) => method === 'dispatchAction')).toHaveLength(1);
    expect(open.chat.pending).toEqual([]);
    expect(open.state.chat.queuedMessages).toHaveLength(1);
    expect(open.state.chat).toEqual(host.chat(open.chat.uri));
  });
});

it('[CLI-032] a host that speaks neither version is not connected to', async () => {
  await expect(scene(['0.7.0'])).rejects.toMatchObject({
    name: 'UnsupportedProtocolVersion',
    data: { supportedVersions: ['0.7.0'] },
  });
});

// Chance

const RUNS = Number(process.env.RUNS ?? 40);
const STEPS = 150;
const KNOWN: readonly number[] = [1, 2];
const FIRST = Number(process.env.SEED ?? Math.floor(Math.random() * 2 ** 31));
const seeds = process.env.SEED ? [FIRST] : [...KNOWN, ...Array.from({ length: RUNS }, (_, index) => FIRST + index)];

const SHARED = 'ahp-session:/shared';

type Fate = { at: 'waiting' } | { at: 'accepted'; serverSeq: number } | { at: 'failed'; error: Error };

interface Player {
  readonly client: Client;
  readonly open: OpenSession;
  readonly fates: { readonly action: StateAction; fate: Fate }[];
  links: ManualLink[];
}

class World {
  readonly host: ForeignHost;
  readonly clock = new FakeClock();
  readonly players: Player[] = [];
  #names = 0;

  constructor(readonly random: Random) {
    const [, versions] = random.pick(VERSIONS);
    this.host = new ForeignHost({ versions, replayMax: random.pick([0, 5, 1_000]) });
    this.host.judge = (action) => (JSON.stringify(action).includes('bad') ? 'bad' : undefined);
  }

  async join(clientId: string): Promise<void> {
    const links: ManualLink[] = [];
    const transport = () => {
      const link = new ManualLink();
      links.push(link);
      this.host.accept(link.host);
      return link.client;
    };
    const connecting = connect({ transport, clientId, clock: this.clock, random: () => 0, log: () => {} });
    const client = await pumped(connecting, links);
    if (this.players.length === 0) {
      await pumped(client.createSession({ channel: SHARED }), links);
      for (let turns = 0; turns < 12; turns += 1) this.turn();
    }
    const window = this.random.chance(0.5) ? { turns: { last: 2 } } : {};
    const open = await pumped(client.open(SHARED, window), links);
    this.players.push({ client, open, fates: [], links });
  }

  step(): void {
    const { random } = this;
    const player = random.pick(this.players);
    const link = player.links.at(-1);
    const roll = random.below(100);
    if (roll < 25) this.dispatch(player);
    else if (roll < 35) this.hostActs();
    else if (roll < 62) link?.moveToHost();
    else if (roll < 90) link?.moveToClient();
    else if (roll < 94) link?.break();
    else if (roll < 97) random.pick(player.links).moveLate();
    else if (roll < 99) player.open.chat.loadOlder(random.below(5)).catch(() => {});
    else this.host.forget();
  }

  dispatch(player: Player): void {
    const action = this.action();
    const entry: Player['fates'][number] = { action, fate: { at: 'waiting' } };
    player.fates.push(entry);
    player.open.dispatch(action as never).then(
      ({ serverSeq }) => {
        entry.fate = { at: 'accepted', serverSeq };
      },
      (error: Error) => {
        entry.fate = { at: 'failed', error };
      },
    );
  }

  name(prefix: string): string {
    this.#names += 1;
    return `${prefix}${this.#names}`;
  }

  action(): StateAction {
    const name = this.name(this.random.chance(0.15) ? 'bad-' : '');
    const turnId = this.chat.activeTurn?.id ?? 'none';
    const start = { turnId: name, startedAt: NOON, message: message(name) };
    const kinds: (() => StateAction)[] = [
      () => queued(name),
      () => drafted(name),
      () => titled(name),
      () => ({ type: 'chat/turnStarted', ...start }),
      () => ({ type: 'chat/turnCancelled', turnId, duration: 1 }),
    ];
    return this.random.pick(kinds)();
  }

  /** A turn that was there before anybody looked. */
  turn(): void {
    const name = this.name('old-');
    this.host.act(this.chatUri, { type: 'chat/turnStarted', turnId: name, startedAt: NOON, message: message(name) });
    this.host.answer(this.chatUri);
  }

  hostActs(): void {
    const roll = this.random.next();
    const { turns } = this.chat;
    if (roll < 0.5) this.host.answer(this.chatUri);
    else if (roll < 0.7) this.host.act(this.chatUri, { type: 'chat/truncated', ...turnIn(turns, this.random) });
    else this.host.act(SHARED, { type: 'session/activityChanged', activity: this.name('step ') });
  }

  get chatUri(): string {
    return this.host.session(SHARED).defaultChat ?? '';
  }

  get chat() {
    return this.host.chat(this.chatUri);
  }

  async quiesce(): Promise<void> {
    for (let round = 0; round < 200; round += 1) {
      await this.clock.advance(500);
      for (const { links } of this.players) {
        for (let frames = 0; frames < 100; frames += 1) {
          for (const link of links) link.moveLate();
          links.at(-1)?.moveToHost();
          links.at(-1)?.moveToClient();
        }
      }
      await settle();
      if (this.players.every(({ client, links }) => client.status.at === 'open' && links.at(-1)?.isQuiet)) return;
    }
    throw new Error('no peace');
  }

  /** A window holds the newest turns without a gap, and says whether there are more. */
  checkChat({ turns, turnsNextCursor, ...rest }: ChatState): void {
    const { turns: all, ...truth } = this.chat;
    expect(plain(rest)).toEqual(plain(truth));
    expect(plain(turns)).toEqual(plain(all.slice(all.length - turns.length)));
    expect(turnsNextCursor === undefined).toBe(turns.length === all.length);
  }

  check(): void {
    for (const { client, open, fates } of this.players) {
      expect([...open.session.pending, ...open.chat.pending]).toEqual([]);
      expect(plain(open.state.session)).toEqual(plain(this.host.session(SHARED)));
      this.checkChat(open.state.chat);
      for (const [index, { fate, action }] of fates.entries()) {
        const isOwn = ({ origin }: { origin?: { clientId: string; clientSeq: number } }) =>
          origin?.clientId === client.clientId && origin.clientSeq === index + 1;
        const applied = this.host.log.filter(isOwn as never);
        expect(applied.length).toBeLessThanOrEqual(1);
        if (fate.at === 'accepted') expect(applied).toMatchObject([{ serverSeq: fate.serverSeq, action }]);
        else if (fate.at === 'failed' && fate.error instanceof ActionRejectedError) expect(applied).toEqual([]);
        else expect(fate).toMatchObject({ at: 'failed', error: expect.any(ActionOutcomeUnknownError) });
      }
    }
  }
}

/** Where to cut history: at one of its turns, or at the very beginning. */
function turnIn(turns: readonly Turn[], random: Random): { turnId?: string } {
  const turn = turns.length > 0 && random.chance(0.9) ? random.pick(turns) : undefined;
  return turn ? { turnId: turn.id } : {};
}

const plain = (value: unknown) => JSON.parse(JSON.stringify(value));

async function pumped<T>(promise: Promise<T>, links: readonly ManualLink[]): Promise<T> {
  for (let round = 0; round < 8; round += 1) {
    await settle();
    links.at(-1)?.moveToHost();
    links.at(-1)?.moveToClient();
    links.at(-1)?.moveToClient();
  }
  return promise;
}

describe('any interleaving of two clients, drops, late frames and a host that forgets', () => {
  it.each(seeds)('[CLI-032] [REL-011] loses nothing and doubles nothing, seed %i', async (seed) => {
    const world = new World(new Random(seed));
    await world.join('left');
    await world.join('right');
    for (let step = 0; step < STEPS; step += 1) {
      world.step();
      if (step % 4 === 0) await world.clock.advance(world.random.below(300));
    }
    await world.quiesce();
    world.check();
  });
});
