/**
 * The page in a real browser: how long a session of 10,000 turns takes from a cold start to its last answer on the
 * screen, against one of 10 turns; and how many frames are late while an answer streams into it, against doing nothing.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createHost, openSqliteLog, scriptedAgent, startServer, staticFiles } from '@atrium/host';
import { launchChromium } from '../scripts/browser.mjs';
import { report, rounded } from './measure.mjs';
import { storeSession } from './support/stored-session.mjs';

const LONG = { uri: 'ahp-session:/long', turns: 10_000 };
const SHORT = { uri: 'ahp-session:/short', turns: 10 };
const ROUNDS = 3;
const TOKEN = 'bench-token-0123456789abcdef0123456789';
/** A picture that comes later than this after the one before was missed, at 60 a second. */
const LATE_MS = 25;
const STREAM_MS = 6_000;
/** Faster than any model: 200 deltas a second, with code, lists and paragraphs. */
const EVERY_MS = 5;

const dataDir = mkdtempSync(join(tmpdir(), 'atrium-bench-'));
const log = await openSqliteLog({ dataDir });
for (const { uri, turns } of [LONG, SHORT]) await storeSession(log, turns, uri);
const paragraph =
  'The parser reads **one token** at a time:\n\n- `next()` moves on\n- `peek()` looks\n\n```ts\nconst token = next();\n```\n\n';
const text = paragraph.repeat(200);
const prompts = { go: [{ text, chunk: 8, everyMs: EVERY_MS }] };
const agent = scriptedAgent({ provider: 'mock', displayName: 'Mock', prompts });
const host = await createHost({ log, agents: [agent] });
const page = await staticFiles(fileURLToPath(new URL('../packages/web/dist', import.meta.url)));
const policy = { token: TOKEN, isGenerated: true, allowedOrigins: [], allowedHosts: [] };
const server = await startServer({ policy, page, onConnection: (transport) => host.connect(transport) });
const origin = `http://localhost:${server.port}/`;
const browser = await launchChromium();

let [long, short] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
for (let round = 0; round < ROUNDS; round++) {
  short = Math.min(short, await opening(SHORT));
  long = Math.min(long, await opening(LONG));
}
const { streaming, idle, longTasks, workMsPerFrame } = await frames();

await browser.close();
await host.stop();
await server.close();
rmSync(dataDir, { recursive: true });

report(
  {
    openLong: rounded(long / short, 2),
    firstPaintMs: rounded(long, 0),
    workMsPerFrame: rounded(workMsPerFrame, 2),
    lateFramesStreaming: rounded(streaming, 2),
    lateFramesIdle: rounded(idle, 2),
    longTasks,
  },
  {
    openLong: 'from navigation to the last answer: 10,000 turns against 10; at most 1.3',
    firstPaintMs: 'the same for 10,000 turns, with nothing cached',
    workMsPerFrame: 'scripts, styles and layout per frame while streaming; at most 8, half of a frame',
    lateFramesStreaming: `percent of frames later than ${LATE_MS} ms at ${1_000 / EVERY_MS} deltas a second; without a graphics card painting is part of it`,
    lateFramesIdle: 'the same while nothing happens, which is the noise of this machine',
    longTasks: 'pieces of work over 50 ms while streaming; at most 2',
  },
);

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

async function frames() {
  const tab = await newPage();
  await tab.goto(`${origin}#/session/${encodeURIComponent(LONG.uri)}`);
  await tab.getByText(`Answer ${LONG.turns - 1}.`).waitFor();
  const idle = await watched(tab);
  await tab.locator('#composer').fill('go');
  await tab.keyboard.press('Enter');
  await tab.locator('p.working').waitFor();
  const tools = await tab.context().newCDPSession(tab);
  await tools.send('Performance.enable');
  const before = await workSeconds(tools);
  const streaming = await watched(tab);
  const work = (await workSeconds(tools)) - before;
  await tab.context().close();
  const { late, longTasks, count } = streaming;
  return { idle: idle.late, streaming: late, longTasks, workMsPerFrame: (1_000 * work) / count };
}

/** What the page itself has cost so far: its scripts, styles and layout, without the painting. */
async function workSeconds(tools) {
  const { metrics } = await tools.send('Performance.getMetrics');
  const parts = ['ScriptDuration', 'LayoutDuration', 'RecalcStyleDuration'];
  return metrics.filter(({ name }) => parts.includes(name)).reduce((sum, { value }) => sum + value, 0);
}

function watched(tab) {
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
          resolve({ late: (100 * late) / count, longTasks, count });
        };
        requestAnimationFrame(step);
      }),
    { forMs: STREAM_MS, lateMs: LATE_MS },
  );
}
