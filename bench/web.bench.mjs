/**
 * The page in a real browser: how long a session of 10,000 turns takes from a cold start to its last answer on the
 * screen, against one of 10 turns; and, while an answer streams into a session of 2,000 turns, how much of a core the page
 * takes, how many frames it shows, and how many are late, against doing nothing. Chromium counts the work of the page by the
 * clock: on a busy machine, what waits for a core counts as work.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { launchChromium } from '../scripts/browser.mjs';
import { built, figure, loadHost, report, roundsInTime, size } from './measure.mjs';
import { storeSession } from './support/stored-session.mjs';

const LONG = { uri: 'ahp-session:/long', turns: size(10_000, 60) };
const SHORT = { uri: 'ahp-session:/short', turns: 10 };
const WATCHED_TURNS = size(2_000, 30);
const TOKEN = 'bench-token-0123456789abcdef0123456789';
/** A picture that comes later than this after the one before was missed, at 60 a second. */
const LATE_MS = 25;
/** How often a stream is watched, each in a session and a tab of its own. */
const STREAMS = 3;
const STREAM_MS = size(6_000, 500);
/** Faster than any model: 200 deltas a second, with code, lists and paragraphs. */
const EVERY_MS = 5;

const watched = Array.from({ length: STREAMS }, (_, index) => {
  return { uri: `ahp-session:/watched-${index}`, turns: WATCHED_TURNS };
});

const { createHost, openSqliteLog, scriptedAgent, startServer, staticFiles } = await loadHost();
const dataDir = mkdtempSync(join(tmpdir(), 'atrium-bench-'));
const log = await openSqliteLog({ dataDir });
for (const { uri, turns } of [LONG, SHORT, ...watched]) await storeSession(log, turns, uri);
const paragraph =
  'The parser reads **one token** at a time:\n\n- `next()` moves on\n- `peek()` looks\n\n```ts\nconst token = next();\n```\n\n';
// A little longer than it is watched.
const text = paragraph.repeat(110);
const prompts = { go: [{ text, chunk: 8, everyMs: EVERY_MS }] };
const agent = scriptedAgent({ provider: 'mock', displayName: 'Mock', prompts });
const host = await createHost({ log, agents: [agent] });
const page = await staticFiles(built('web/dist'));
const policy = { token: TOKEN, isGenerated: true, allowedOrigins: [], allowedHosts: [] };
const server = await startServer({ policy, page, onConnection: (transport) => host.connect(transport) });
const origin = `http://localhost:${server.port}/`;
const browser = await launchChromium();

const openings = [];
const streams = [];
for (const round of roundsInTime({ share: 0.5 })) {
  const pair = round % 2 === 0 ? [SHORT, LONG] : [LONG, SHORT];
  const milliseconds = new Map();
  for (const one of pair) milliseconds.set(one, await opening(one));
  openings.push({ long: milliseconds.get(LONG), short: milliseconds.get(SHORT) });
}
for (const round of roundsInTime()) if (watched[round]) streams.push(await frames(watched[round]));

await browser.close();
await host.stop();
await server.close();
rmSync(dataDir, { recursive: true });

const deltas = `${1_000 / EVERY_MS} deltas a second`;
report([
  figure({
    name: 'web.open',
    samples: openings.map(({ long, short }) => long / short),
    limit: `a chat of ${SHORT.turns} turns; here ${LONG.turns}; wall time to the last answer`,
    target: { atMost: 1.3 },
    worse: 'rendering',
  }),
  figure({
    name: 'web.open.ms',
    samples: openings.map(({ long }) => long),
    unit: 'ms',
    limit: 'the same with nothing cached',
    worse: 'script',
  }),
  figure({
    name: 'web.frame',
    samples: streams.map(({ workMsPerFrame }) => workMsPerFrame),
    unit: 'ms',
    limit: `script, style and layout per frame at ${deltas}`,
    target: { atMost: 8 },
    worse: 'layout',
  }),
  figure({
    name: 'web.core',
    samples: streams.map(({ workShare }) => workShare),
    unit: 'of a core',
    limit: `script, style and layout while ${deltas} stream into ${WATCHED_TURNS} turns`,
    target: { atMost: 0.35 },
    worse: 'layout',
  }),
  figure({
    name: 'web.frames',
    samples: streams.map(({ perSecond }) => perSecond),
    unit: '/s',
    limit: 'shown meanwhile',
    target: { atLeast: 55 },
    worse: 'painting',
  }),
  figure({
    name: 'web.long-tasks',
    samples: streams.map(({ longTasks }) => longTasks),
    unit: 'tasks',
    limit: `over 50 ms, in ${STREAM_MS / 1_000} s of streaming`,
    target: { atMost: 2 },
    worse: 'parsing',
  }),
  figure({
    name: 'web.late',
    samples: streams.map(({ streaming, idle }) => streaming - idle),
    unit: '% more',
    limit: `frames later than ${LATE_MS} ms while nothing happens; here at ${deltas}`,
    worse: 'painting',
  }),
]);

/** A fresh browser profile each time. The token is put where the page keeps it, since a link with it opens the list. */
async function newPage() {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
  await context.addInitScript((token) => sessionStorage.setItem('atrium.token', token), TOKEN);
  return context.newPage();
}

async function opening({ uri, turns }) {
  const tab = await newPage();
  const start = performance.now();
  await tab.goto(`${origin}#/session/${encodeURIComponent(uri)}`, { waitUntil: 'commit' });
  await tab.getByText(`Answer ${turns - 1}.`).waitFor();
  const milliseconds = performance.now() - start;
  await tab.context().close();
  return milliseconds;
}

async function frames({ uri, turns }) {
  const tab = await newPage();
  await tab.goto(`${origin}#/session/${encodeURIComponent(uri)}`);
  await tab.getByText(`Answer ${turns - 1}.`).waitFor();
  const idle = await pictures(tab);
  await tab.locator('#composer').fill('go');
  await tab.keyboard.press('Enter');
  await tab.locator('p.working').waitFor();
  const tools = await tab.context().newCDPSession(tab);
  await tools.send('Performance.enable');
  const before = await workSeconds(tools);
  const streaming = await pictures(tab);
  const work = (await workSeconds(tools)) - before;
  await tab.context().close();
  const { late, longTasks, count, milliseconds } = streaming;
  return {
    ...{ idle: idle.late, streaming: late, longTasks, workMsPerFrame: (1_000 * work) / count },
    workShare: (1_000 * work) / milliseconds,
    perSecond: (1_000 * count) / milliseconds,
  };
}

/** What the page itself has cost so far: its scripts, styles and layout, without the painting. */
async function workSeconds(tools) {
  const { metrics } = await tools.send('Performance.getMetrics');
  const parts = ['ScriptDuration', 'LayoutDuration', 'RecalcStyleDuration'];
  return metrics.filter(({ name }) => parts.includes(name)).reduce((sum, { value }) => sum + value, 0);
}

function pictures(tab) {
  return tab.evaluate(
    ({ forMs, lateMs }) =>
      new Promise((resolve) => {
        let [count, late, longTasks] = [0, 0, 0];
        const observer = new PerformanceObserver((list) => {
          longTasks += list.getEntries().length;
        });
        observer.observe({ entryTypes: ['longtask'] });
        const begin = performance.now();
        let last = begin;
        const step = (now) => {
          count += 1;
          if (now - last > lateMs) late += 1;
          last = now;
          if (now - begin < forMs) return requestAnimationFrame(step);
          observer.disconnect();
          resolve({ late: (100 * late) / count, longTasks, count, milliseconds: now - begin });
        };
        requestAnimationFrame(step);
      }),
    { forMs: STREAM_MS, lateMs: LATE_MS },
  );
}
