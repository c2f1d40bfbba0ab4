/**
 * What it costs to open a session of 10,000 turns, and to come back to one. A window costs the same whatever the session
 * holds; a full snapshot is the text that is stored; a replay grows with what was missed, not with the session. Then what
 * a snapshot of 100 MB costs everybody else.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createHost, openSqliteLog, scriptedAgent } from '@atrium/host';
import { report, rounded } from './measure.mjs';
import { InProcessClient } from './support/in-process-client.mjs';
import { largeSnapshots } from './support/large-snapshots.mjs';
import { BENCH_SESSION, storeSession } from './support/stored-session.mjs';

const TURNS = 10_000;
const MISSED = 1_000;
const ROUNDS = 5;

const dataDir = mkdtempSync(join(tmpdir(), 'atrium-bench-'));
const log = await openSqliteLog({ dataDir });
await storeSession(log, TURNS);
const agent = scriptedAgent({
  provider: 'mock',
  displayName: 'Mock',
  prompts: {},
  default: [{ text: 'x'.repeat(MISSED - 5), chunk: 1 }],
});
const host = await createHost({ log, agents: [agent] });
const client = new InProcessClient(host);
await client.initialize('bench');

const first = await timed(() => client.ask('subscribe', { channel: BENCH_SESSION }));
const state = JSON.parse(first.value).result.snapshot.state;
if (state.turns.length !== TURNS) throw new Error(`expected ${TURNS} turns, got ${state.turns.length}`);

const stringify = await bestTime(async () => JSON.stringify(state));
const full = await bestTime(() => client.ask('subscribe', { channel: BENCH_SESSION }));
const window = await bestTime(() => client.ask('subscribe', { channel: BENCH_SESSION, turns: { last: 50 } }));

const { replay, raw } = await replayFigures();
await host.stop();
rmSync(dataDir, { recursive: true });
const large = await largeSnapshots();

report(
  {
    full: rounded(full / stringify),
    fullFirst: rounded(first.milliseconds / stringify),
    window: rounded(window / stringify, 4),
    replay: rounded(replay / raw),
    stringifyMs: rounded(stringify),
    ...largeFigures(),
  },
  {
    full: 'whole snapshot, read from the log, against JSON.stringify of the state; at most 4',
    fullFirst: 'the same for the first time',
    window: 'last 50 turns against the same; at most 0.01',
    replay: `${MISSED} missed actions against moving the same bytes through the same transport; at most 2`,
    bareSixPingMs: 'a bystander of a bare ws server that sends 100 MB to six, in parts: the limit for the pings below',
    ...largeTargets(),
  },
);

/** `v1SixPingMs`: a bystander's worst ping while six clients of sessions-v1 are sent 100 MB. */
function largeFigures() {
  return Object.fromEntries(
    Object.entries(large).flatMap(([name, { pingMs, idlePingMs, workMs, seconds, memory }]) => [
      [`${name}PingMs`, rounded(pingMs, 1)],
      [`${name}IdlePingMs`, rounded(idlePingMs, 1)],
      [`${name}WorkMs`, rounded(workMs, 1)],
      [`${name}Memory`, rounded(memory, 2)],
      [`${name}Seconds`, rounded(seconds, 2)],
    ]),
  );
}

function largeTargets() {
  const names = Object.keys(large).filter((name) => name !== 'bareSix');
  return Object.fromEntries(
    names.flatMap((name) => [
      [`${name}PingMs`, "bystander's worst ping while 100 MB are sent; under 100 on an idle machine"],
      [`${name}IdlePingMs`, 'the same before that: what the machine adds'],
      [`${name}WorkMs`, "the host's CPU time in one go, all its threads; no other process adds to it; under 100"],
      [`${name}Memory`, "the host's peak of memory, in snapshots; at most 3"],
    ]),
  );
}

async function timed(work) {
  const start = performance.now();
  const value = await work();
  return { value, milliseconds: performance.now() - start };
}

async function bestTime(work) {
  let best = Number.POSITIVE_INFINITY;
  for (let round = 0; round < ROUNDS; round++) best = Math.min(best, (await timed(work)).milliseconds);
  return best;
}

/** A client was away while a turn streamed. The limit: answering an unknown method with an error of the same size. */
async function replayFigures() {
  const away = new InProcessClient(host);
  const { result } = JSON.parse(await away.initialize('away'));
  const done = new Promise((resolve) => {
    client.onnotification = (text) => text.includes('session/turnComplete') && resolve();
  });
  const action = { type: 'session/turnStarted', turnId: 'now', userMessage: { text: 'go' } };
  client.dispatch(BENCH_SESSION, 1, action);
  await done;
  const params = {
    channel: 'ahp-root://',
    clientId: 'away',
    lastSeenServerSeq: result.serverSeq,
    subscriptions: [BENCH_SESSION],
  };
  let bytes = 0;
  const replayTime = await bestTime(async () => {
    const back = new InProcessClient(host);
    const answer = await back.ask('reconnect', params);
    if (!answer.includes('"replay"')) throw new Error(`expected a replay, got ${answer.slice(0, 100)}`);
    bytes = answer.length;
  });
  const method = 'x'.repeat(bytes);
  const rawTime = await bestTime(async () => {
    const other = new InProcessClient(host);
    await other.initialize('raw');
    await other.ask(method, { channel: 'ahp-root://' });
  });
  return { replay: replayTime, raw: rawTime };
}
