/**
 * The page in a real browser: how long a session of 10,000 turns takes from a cold start to its last answer on the
 * screen, against one of 10 turns; and, while an answer streams into a session of 2,000 turns, how much of a core the page
 * takes, how many frames it shows, and how many are late, against doing nothing. Work is CPU of the thread that the page runs on,
 * so that waiting for a core does not count; frames are counted by the clock. With `--against`, each build has a host and
 * a browser of its own, and they take turns.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { launchChromium } from '../scripts/browser.mjs';
import { absolute, built, loadHost, paired, report, rounds, size } from './measure.mjs';
import { storeSession } from './support/stored-session.mjs';

const LONG = { uri: 'ahp-session:/long', turns: size(10_000, 60) };
const SHORT = { uri: 'ahp-session:/short', turns: 10 };
const WATCHED_TURNS = size(2_000, 30);
const TOKEN = 'bench-token-0123456789abcdef0123456789';
/** A picture that comes later than this after the one before was missed, at 60 a second. */
const LATE_MS = 25;
const STREAM_MS = size(6_000, 500);
/** Faster than any model: 200 deltas a second, with code, lists and paragraphs. */
const EVERY_MS = 5;
const DELTA_LENGTH = 8;
/** The answer says this again and again; no stored turn has its line of code. */
const CODE = 'const token = next();';
const PARAGRAPH = `The parser reads **one token** at a time:\n\n- \`next()\` moves on\n- \`peek()\` looks\n\n\`\`\`ts\n${CODE}\n\`\`\`\n\n`;
/** What a browser compiles, it compiles before it is measured; nothing else of a round is kept for the next. */
const WARMUPS = 1;

const { open, stream } = await paired(import.meta.url, {
  open: { atrium: { page: opened }, warmups: 0 },
  stream: { atrium: { page: streamed }, warmups: WARMUPS },
});

const deltas = `${1_000 / EVERY_MS} deltas a second`;
const workOf =
  (...names) =>
  ({ work, milliseconds }) =>
    names.reduce((sum, name) => sum + 1_000 * work[name], 0) / milliseconds;
const drawing = ['ScriptDuration', 'LayoutDuration', 'RecalcStyleDuration'];
const share = { of: 'page', unit: 'of a core' };
report([
  absolute(open, {
    name: 'web.open',
    of: 'page',
    pick: ({ long, short }) => long / short,
    unit: 'x',
    limit: `a chat of ${SHORT.turns} turns; here ${LONG.turns}; wall time to the last answer`,
    target: { atMost: 1.3 },
    worse: 'rendering',
  }),
  absolute(open, {
    name: 'web.open.ms',
    of: 'page',
    pick: ({ long }) => long,
    unit: 'ms',
    limit: 'the same with nothing cached',
    worse: 'script',
  }),
  absolute(stream, {
    name: 'web.script',
    ...share,
    pick: workOf('ScriptDuration'),
    limit: `scripts alone while ${deltas} stream into ${WATCHED_TURNS} turns`,
    worse: 'parsing',
  }),
  absolute(stream, {
    name: 'web.script.delta',
    of: 'page',
    pick: ({ work, paragraphs }) => (1e6 * work.ScriptDuration) / deltasIn(paragraphs),
    unit: 'µs',
    limit: 'scripts for each delta that was shown: a busy machine shows fewer, in a smaller share of a core',
    worse: 'parsing',
  }),
  absolute(stream, {
    name: 'web.layout',
    ...share,
    pick: workOf('LayoutDuration', 'RecalcStyleDuration'),
    limit: 'style and layout meanwhile',
    worse: 'layout',
  }),
  absolute(stream, {
    name: 'web.core',
    ...share,
    pick: workOf(...drawing),
    limit: 'script, style and layout meanwhile',
    target: { atMost: 0.35 },
    worse: 'layout',
  }),
  absolute(stream, {
    name: 'web.thread',
    ...share,
    pick: workOf('TaskDuration'),
    limit: "all of the page's thread meanwhile, with collecting garbage and preparing to paint",
    worse: 'painting',
  }),
  absolute(stream, {
    name: 'web.frame',
    of: 'page',
    pick: (sample) => (workOf(...drawing)(sample) * sample.milliseconds) / sample.count,
    unit: 'ms',
    limit: `script, style and layout per frame at ${deltas}`,
    target: { atMost: 8 },
    worse: 'layout',
  }),
  absolute(stream, {
    name: 'web.deltas',
    of: 'page',
    pick: ({ paragraphs, milliseconds }) => (1_000 * deltasIn(paragraphs)) / milliseconds,
    unit: '/s',
    limit: 'deltas that were shown meanwhile, counted in paragraphs',
    worse: 'load',
  }),
  absolute(stream, {
    name: 'web.frames',
    of: 'page',
    pick: ({ count, milliseconds }) => (1_000 * count) / milliseconds,
    unit: '/s',
    limit: 'shown meanwhile',
    target: { atLeast: 55 },
    worse: 'painting',
  }),
  absolute(stream, {
    name: 'web.long-tasks',
    of: 'page',
    pick: ({ longTasks }) => longTasks,
    unit: 'tasks',
    limit: `over 50 ms, in ${STREAM_MS / 1_000} s of streaming`,
    target: { atMost: 2 },
    worse: 'parsing',
  }),
  absolute(stream, {
    name: 'web.late',
    of: 'page',
    pick: ({ late, lateIdle }) => late - lateIdle,
    unit: '% more',
    limit: `frames later than ${LATE_MS} ms while nothing happens; here at ${deltas}`,
    worse: 'painting',
  }),
]);

function deltasIn(paragraphs) {
  return (paragraphs * PARAGRAPH.length) / DELTA_LENGTH;
}

/** Milliseconds to the last answer of a long session and of a short one, each in a browser profile of its own. */
async function opened() {
  const place = await hostAndBrowser([LONG, SHORT]);
  let slices = 0;
  return {
    close: place.close,
    async slice() {
      const pair = slices++ % 2 === 0 ? [SHORT, LONG] : [LONG, SHORT];
      const milliseconds = new Map();
      for (const one of pair) milliseconds.set(one, await opening(place, one));
      return { operations: 1, long: milliseconds.get(LONG), short: milliseconds.get(SHORT) };
    },
  };
}

/** An answer that streams into a session of its own, and what the page had to do meanwhile. */
async function streamed() {
  const sessions = Array.from({ length: WARMUPS + rounds }, (_, index) => {
    return { uri: `ahp-session:/watched-${index}`, turns: WATCHED_TURNS };
  });
  const place = await hostAndBrowser(sessions);
  return { close: place.close, slice: async () => ({ operations: 1, ...(await watching(place, sessions.shift())) }) };
}

/** A host of the build under test with these sessions, and a browser to look at it with. */
async function hostAndBrowser(sessions) {
  const { createHost, openSqliteLog, scriptedAgent, startServer, staticFiles } = await loadHost();
  const dataDir = mkdtempSync(join(tmpdir(), 'atrium-bench-'));
  const log = await openSqliteLog({ dataDir });
  for (const { uri, turns } of sessions) await storeSession(log, turns, uri);
  // A little longer than it is watched.
  const text = PARAGRAPH.repeat(110);
  const prompts = { go: [{ text, chunk: DELTA_LENGTH, everyMs: EVERY_MS }] };
  const host = await createHost({ log, agents: [scriptedAgent({ provider: 'mock', displayName: 'Mock', prompts })] });
  const page = await staticFiles(built('web/dist'));
  const policy = { token: TOKEN, isGenerated: true, allowedOrigins: [], allowedHosts: [] };
  const server = await startServer({ policy, page, onConnection: (transport) => host.connect(transport) });
  const browser = await launchChromium();
  return {
    browser,
    origin: `http://localhost:${server.port}/`,
    async close() {
      await browser.close();
      await host.stop();
      await server.close();
      rmSync(dataDir, { recursive: true });
    },
  };
}

/** A fresh browser profile each time. The token is put where the page keeps it, since a link with it opens the list. */
async function newPage({ browser }) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
  await context.addInitScript((token) => sessionStorage.setItem('atrium.token', token), TOKEN);
  return context.newPage();
}

async function opening(place, { uri, turns }) {
  const tab = await newPage(place);
  const start = performance.now();
  await tab.goto(`${place.origin}#/session/${encodeURIComponent(uri)}`, { waitUntil: 'commit' });
  await tab.getByText(`Answer ${turns - 1}.`).waitFor();
  const milliseconds = performance.now() - start;
  await tab.context().close();
  return milliseconds;
}

async function watching(place, { uri, turns }) {
  const tab = await newPage(place);
  await tab.goto(`${place.origin}#/session/${encodeURIComponent(uri)}`);
  await tab.getByText(`Answer ${turns - 1}.`).waitFor();
  const idle = await pictures(tab);
  await tab.locator('#composer').fill('go');
  await tab.keyboard.press('Enter');
  await tab.locator('p.working').waitFor();
  const tools = await tab.context().newCDPSession(tab);
  await tools.send('Performance.enable', { timeDomain: 'threadTicks' });
  const paragraphsBefore = await shownParagraphs(tab);
  const before = await workSeconds(tools);
  const streaming = await pictures(tab);
  const after = await workSeconds(tools);
  const paragraphs = (await shownParagraphs(tab)) - paragraphsBefore;
  await tab.context().close();
  const work = Object.fromEntries(Object.entries(after).map(([name, seconds]) => [name, seconds - before[name]]));
  return { ...streaming, lateIdle: idle.late, work, paragraphs };
}

/** CPU that the page's thread has spent so far, by kind of work. */
async function workSeconds(tools) {
  const { metrics } = await tools.send('Performance.getMetrics');
  const kinds = ['ScriptDuration', 'LayoutDuration', 'RecalcStyleDuration', 'TaskDuration'];
  return Object.fromEntries(metrics.filter(({ name }) => kinds.includes(name)).map(({ name, value }) => [name, value]));
}

/** How often the answer has come round so far. */
function shownParagraphs(tab) {
  return tab.evaluate((code) => document.querySelector('[role=log]').textContent.split(code).length - 1, CODE);
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
