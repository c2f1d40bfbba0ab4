/**
 * Atrium beside another host, opencode, both as people start them, with the same model on loopback: CPU and memory of a
 * start, CPU for each token with 1, 10 and 100 clients watching, the time that a host adds before the first token, and
 * reading a session of 2,000 turns again. Skipped where `opencode` is not installed (`npm i -g opencode-ai`, or
 * OPENCODE_BIN=<path>).
 */
import { rmSync } from 'node:fs';
import { paired, ratio, report, size, skipped } from './measure.mjs';
import { startHelper } from './support/helper.mjs';
import { atrium, opencode, opencodeVersion } from './support/peers.mjs';

const TOKENS = size(200, 10);
const PER_SECOND = 200;
const SETTLED_MS = 1_000;
const TURNS = size(2_000, 20);
const WINDOW = 50;
const REOPENINGS = size(5, 1);

const TARGETS = [
  { name: 'peers.start', group: 'start', atLeast: 8, worse: 'modules' },
  { name: 'peers.rss', group: 'start', member: 'rss', atLeast: 4, worse: 'modules' },
  { name: 'peers.first-token', group: 'watchers1', member: 'firstMs', atLeast: 6, worse: 'waiting' },
  { name: 'peers.token.1', group: 'watchers1', atLeast: 5, worse: 'parsing' },
  { name: 'peers.token.10', group: 'watchers10', atLeast: 5, worse: 'frames' },
  { name: 'peers.token.100', group: 'watchers100', atLeast: 5, worse: 'frames' },
  { name: 'peers.reopen', group: 'reopen', atLeast: 10, worse: 'parsing' },
  { name: 'peers.reopen.window', group: 'reopen', member: 'windowCpu', worse: 'reads' },
];

const version = await opencodeVersion();
if (version === undefined) {
  const why = 'opencode is not installed';
  report(TARGETS.map(({ name, atLeast }) => skipped({ name, target: atLeast && { atLeast }, skipped: why })));
} else {
  const pair = (make) => ({
    warmups: size(1, 0),
    atrium: { atrium: () => make(atrium) },
    limits: { opencode: () => make(opencode) },
  });
  const samples = await paired(import.meta.url, {
    start: { ...pair(starting), warmups: 0 },
    watchers1: pair((host) => streaming(host, 1)),
    watchers10: pair((host) => streaming(host, size(10, 2))),
    watchers100: pair((host) => streaming(host, size(100, 3))),
    reopen: pair(reopening),
  });
  report(
    TARGETS.map(({ name, group, member, atLeast, worse }) =>
      ratio(samples[group], {
        name,
        of: 'atrium',
        to: 'opencode',
        member,
        isInverse: true,
        limit: `opencode ${version}; how many times less`,
        target: atLeast && { atLeast },
        worse,
      }),
    ),
  );
}

async function starting(host) {
  const folder = host.prepare({ modelPort: 1 });
  return {
    async slice() {
      const running = await host.start(folder);
      const { cpu } = await running.usage();
      await new Promise((resolve) => setTimeout(resolve, SETTLED_MS));
      const { rss } = await running.usage();
      await running.stop();
      return { operations: 1, cpu, rss, milliseconds: running.milliseconds };
    },
    close: () => rmSync(folder, { recursive: true, force: true }),
  };
}

/** A slice is a turn of so many tokens, at a pace. */
async function streaming(host, watchers) {
  const model = startHelper('./fake-model.mjs');
  const { port: modelPort } = await model.ask('listen');
  const folder = host.prepare({ modelPort });
  const running = await host.start(folder);
  const { session, prompt } = await host.open(running);
  const receivers = startHelper('./receivers.mjs');
  await receivers.ask('join', { kind: host.kind, port: running.port, count: watchers, sessions: [session] });
  let last = 0;
  return {
    async slice() {
      const first = last + 1;
      last += TOKENS;
      await model.ask('plan', { first, count: TOKENS, perSecond: PER_SECOND });
      await receivers.ask('expect', { last, first });
      const before = await running.usage();
      const asked = process.hrtime.bigint();
      prompt();
      const { firstAt } = await receivers.ask('arrived', { sent: [], from: first });
      const { cpu } = await running.usage();
      return { operations: TOKENS, cpu: cpu - before.cpu, firstMs: Number(BigInt(firstAt) - asked) / 1e6 };
    },
    async close() {
      receivers.stop();
      await running.stop();
      model.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Clients that come to a stored session read all of it, and then its newest part. */
async function reopening(host) {
  const folder = host.prepare({ modelPort: 1 });
  await host.store(folder, TURNS);
  const running = await host.start(folder);
  const cpuOf = async (last) => {
    const before = await running.usage();
    for (let time = 0; time < REOPENINGS; time++) {
      const turns = await host.reopen(running, last);
      if (turns !== (last ?? TURNS)) throw new Error(`${turns} turns came instead of ${last ?? TURNS}`);
    }
    return (await running.usage()).cpu - before.cpu;
  };
  return {
    slice: async () => ({
      operations: REOPENINGS,
      cpu: await cpuOf(),
      windowCpu: await cpuOf(Math.min(WINDOW, TURNS)),
    }),
    async close() {
      await running.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
