/** Clients come and go all day; a host must be the same in the evening. Scaled down to a few seconds. */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { CLIENT_GRACE_MS, IDLE_SESSION_MS } from '@atrium/core/sessions/limits.js';
import { describe, expect, it } from 'vitest';
import { FakeClock } from '../support/fake-clock.js';
import { Random } from '../support/fuzz-random.js';
import { FUZZ_SCRIPT } from '../support/fuzz-script.js';
import { dataFolder, openLog } from '../support/log-folders.js';
import { type RawClient, settle, startTestHost, type TestHost } from '../support/test-host.js';

const CLIENTS = 200;
const AT_A_TIME = 20;
/** The first ones fill caches that have a limit; what the others leave behind counts. */
const EARLY_CROWDS = ['one', 'two', 'three', 'four'];
/** `npm run prove -- soak` has more. */
const LATE_CROWDS = Array.from({ length: Number(process.env.ATRIUM_SOAK_CROWDS || 8) }, (_, index) => `late-${index}`);
/** What a client that is gone for good may leave in memory. */
const LEFT_PER_CLIENT_BYTES = 700;
const SEED = Random.seedFromEnvironment();

describe(`a host with ${CLIENTS} clients that come and go (seed ${SEED})`, () => {
  it('[REL-037] leaves no timer and no listener behind when it has stopped', async () => {
    const before = resources();
    const clock = new FakeClock();
    const host = await startTestHost({ clock, scripts: [FUZZ_SCRIPT] });
    await comeAndGo(host, clock, 'visitor');
    await host.stop();
    await settle();
    expect(clock.pending).toBe(0);
    expect(resources().filter((resource) => !before.includes(resource))).toEqual([]);
  });

  it('[REL-037] forgets those who are gone and what nobody looks at', {
    timeout: 60_000 + LATE_CROWDS.length * 5_000,
  }, async () => {
    const clock = new FakeClock();
    const host = await startTestHost({ clock, log: await openLog(dataFolder()), scripts: [FUZZ_SCRIPT] });
    const crowdsCome = async (crowds: readonly string[]) => {
      for (const crowd of crowds) await comeAndGo(host, clock, crowd);
      await clock.advance(CLIENT_GRACE_MS + IDLE_SESSION_MS);
    };
    await crowdsCome(EARLY_CROWDS);
    const pending = clock.pending;
    const heap = await heapUsed();
    await crowdsCome(LATE_CROWDS);
    expect(clock.pending).toBeLessThanOrEqual(pending);
    const left = ((await heapUsed()) - heap) / (LATE_CROWDS.length * CLIENTS);
    console.info(`soak: ${Math.round(left)} bytes are left of each client`);
    expect(left).toBeLessThan(LEFT_PER_CLIENT_BYTES);
    await host.stop();
  });
});

/** Crowds of clients use a few sessions, and leave: politely, in the middle of a turn, or to come back for a moment. */
async function comeAndGo(host: TestHost, clock: FakeClock, crowd: string): Promise<void> {
  const random = new Random(SEED);
  const maker = await host.client(`${crowd}-maker`);
  const session = await maker.session(`ahp-session:/${crowd}`);
  maker.disconnect();
  for (let first = 0; first < CLIENTS; first += AT_A_TIME) {
    const names = Array.from({ length: AT_A_TIME }, (_, index) => `${crowd}-${first + index}`);
    const clients = await Promise.all(names.map((name) => visit(host, session, name)));
    await clock.advance(random.between(1, 50));
    for (const client of clients) client.disconnect();
    const returned = await Promise.all(
      names.filter(() => random.chance(0.2)).map((name) => comeBack(host, session, name)),
    );
    for (const client of returned) client.disconnect();
    await clock.advance(random.between(1, 1_000));
  }
  await endTurn(host, session, clock);
}

async function visit(host: TestHost, session: string, name: string): Promise<RawClient> {
  const client = await host.client(name);
  await client.request('subscribe', { channel: session });
  client.dispatch(session, { type: 'session/titleChanged', title: name });
  client.dispatch(session, { type: 'session/turnStarted', turnId: `turn-${name}`, userMessage: { text: 'stream' } });
  await client.action(session, 'session/titleChanged');
  return client;
}

async function comeBack(host: TestHost, session: string, clientId: string): Promise<RawClient> {
  const client = host.connect();
  const subscriptions = [session];
  await client.request('reconnect', { channel: 'ahp-root://', clientId, lastSeenServerSeq: 0, subscriptions });
  return client;
}

/** Cuts the history, so that what is left in memory is not the sessions' own. */
async function endTurn(host: TestHost, session: string, clock: FakeClock): Promise<void> {
  await clock.advance(1_000);
  const client = await host.client('cleaner');
  await client.request('disposeSession', { channel: session });
  client.disconnect();
  await settle();
}

function resources(): string[] {
  const listeners = process.eventNames().map((name) => `${String(name)}: ${process.listenerCount(name)}`);
  return [...process.getActiveResourcesInfo(), ...listeners].sort();
}

/** Collects more than once: what is let go of in one round may let go of something else. */
async function heapUsed(): Promise<number> {
  setFlagsFromString('--expose-gc');
  const collect: unknown = runInNewContext('gc');
  for (let round = 0; round < 3; round++) {
    if (typeof collect === 'function') collect();
    await settle();
  }
  return process.memoryUsage().heapUsed;
}
