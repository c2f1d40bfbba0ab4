/**
 * What opening a session on a phone costs over a slow line: a session of 2,000 turns of real work on a host that has many
 * others, from nothing to its last answer on the screen and a field to type in. `cold` is the first visit of all; `warm` the next
 * one, when the browser has the files of the page; `switch` another session in an open page. Every byte on the line counts,
 * headers too.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { launchChromium } from '../scripts/browser.mjs';
import { built, figure, loadHost, report, roundsInTime, size } from './measure.mjs';
import { LINE_3G, slowLine } from './support/slow-line.mjs';
import { storeSession } from './support/stored-session.mjs';
import { workedTurn } from './support/worked-turn.mjs';

const LONG = { uri: 'ahp-session:/long', turns: size(2_000, 60) };
const OTHER = { uri: 'ahp-session:/other', turns: size(2_000, 60) };
const SESSIONS = size(100, 5);
const TOKEN = 'bench-token-0123456789abcdef0123456789';
const PHONE = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true, deviceScaleFactor: 3 };
/** Browsers take it for this machine's, as they take TLS: they run a service worker there. The host does not. */
const NAME = 'slow.localhost';
/** After the session can be used, the page may still fetch something; all of it counts. */
const AFTERWARDS_MS = 3_000;

const { createHost, openSqliteLog, scriptedAgent, startServer, staticFiles } = await loadHost();
const dataDir = mkdtempSync(join(tmpdir(), 'atrium-bench-'));
const log = await openSqliteLog({ dataDir });
for (const { uri, turns } of [LONG, OTHER]) await storeSession(log, turns, uri, workedTurn);
for (let index = 0; index < SESSIONS; index++) await storeSession(log, 1, `ahp-session:/${index}`, workedTurn);
const host = await createHost({ log, agents: [scriptedAgent({ provider: 'mock', displayName: 'Mock', prompts: {} })] });
const page = await staticFiles(built('web/dist'));
const policy = { token: TOKEN, isGenerated: true, allowedOrigins: [], allowedHosts: [NAME] };
const server = await startServer({ policy, page, onConnection: (transport) => host.connect(transport) });
const line = await slowLine(server.port, LINE_3G);
const browser = await launchChromium({ names: [`MAP ${NAME}:${server.port} 127.0.0.1:${line.port}`] });
const origin = `http://${NAME}:${server.port}/`;

const samples = [];
for (const _ of roundsInTime()) samples.push(await round());

await browser.close();
line.close();
await host.stop();
await server.close();
rmSync(dataDir, { recursive: true });

const kinds = [
  { kind: 'cold', limit: 'nothing is cached', target: undefined },
  { kind: 'warm', limit: 'the files of the page are cached', target: { atMost: 150 } },
  { kind: 'switch', limit: 'the page is open', target: { atMost: 150 } },
];
report(
  kinds.flatMap(({ kind, limit, target }) => [
    figure({
      name: `page.${kind}.bytes`,
      samples: samples.map((sample) => sample[kind].bytes / 1_000),
      unit: 'kB',
      limit: `both ways, for ${LONG.turns} turns; ${limit}`,
      ...(target && { target }),
      worse: 'turns',
    }),
    figure({
      name: `page.${kind}.ms`,
      samples: samples.map((sample) => sample[kind].milliseconds),
      unit: 'ms',
      limit: `to a usable session on 3G; ${limit}`,
      worse: 'bytes',
    }),
  ]),
);

async function round() {
  const context = await browser.newContext(PHONE);
  await context.addInitScript((token) => sessionStorage.setItem('atrium.token', token), TOKEN);
  const first = await context.newPage();
  const cold = await measured(first, LONG);
  await first.close();
  const tab = await context.newPage();
  const warm = await measured(tab, LONG);
  const another = await measured(tab, OTHER);
  await context.close();
  return { cold, warm, switch: another };
}

/** The page asks the host for small things now and then for as long as it is open: they count, for a while. */
async function measured(tab, { uri, turns }) {
  line.take();
  const start = performance.now();
  await tab.goto(`${origin}#/session/${encodeURIComponent(uri)}`, { waitUntil: 'commit' });
  await tab.getByText(`Answer ${turns - 1}.`).waitFor({ timeout: 120_000 });
  await tab.locator('#composer').waitFor();
  const milliseconds = performance.now() - start;
  await new Promise((resolve) => setTimeout(resolve, AFTERWARDS_MS));
  const { down, up } = line.take();
  return { bytes: down + up, milliseconds };
}
