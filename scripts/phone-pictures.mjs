/** `node scripts/phone-pictures.mjs` takes the pictures of docs/phone.md: a real host and the page in a Chromium that is a phone. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { builtinTools, createHost, MemoryLog, scriptedAgent, startServer, staticFiles } from '@atrium/host';
import { launchChromium } from './browser.mjs';
import { ROOT, runMain, say } from './process.mjs';

const IMAGES = path.join(ROOT, 'docs', 'images');
const PHONE = {
  ...{ viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true, deviceScaleFactor: 2 },
  ...{ reducedMotion: /** @type {const} */ ('reduce'), colorScheme: /** @type {const} */ ('light') },
};
const TOKEN = 'a-token-for-the-pictures-0123456789';
const PROMPTS = {
  'Run the tests': [
    { title: 'Run the tests' },
    { text: 'I would run the tests of the project now.' },
    { callTool: { name: 'shell', input: { command: 'npm test -- --reporter=dot' } } },
  ],
};

/** Runs in the page: shares something with it, as another app would. */
const SHARE = `async () => {
  const { serviceWorker } = navigator;
  await serviceWorker.register('/service-worker.js', { scope: '/' });
  await serviceWorker.ready;
  if (!serviceWorker.controller)
    await new Promise((done) => serviceWorker.addEventListener('controllerchange', done, { once: true }));
  const form = new FormData();
  form.set('text', 'This page has the error message that we saw yesterday.');
  form.set('url', 'https://example.com/errors/42');
  await fetch('/share', { method: 'POST', body: form });
}`;

await runMain(async () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'atrium-pictures-'));
  const agent = scriptedAgent({ provider: 'demo', displayName: 'Demo', prompts: PROMPTS });
  const host = await createHost({
    log: new MemoryLog(),
    agents: [agent],
    tools: builtinTools(),
    dataFolder: path.join(folder, 'data'),
    defaultDirectory: pathToFileURL(folder).href,
  });
  const page = await staticFiles(path.join(ROOT, 'packages', 'web', 'dist'));
  const policy = { token: TOKEN, isGenerated: true, allowedOrigins: [], allowedHosts: [] };
  const server = await startServer({
    policy,
    page,
    devices: host.devices,
    onConnection: (transport, access) => host.connect(transport, access),
  });
  const browser = await launchChromium();
  try {
    const context = await browser.newContext(PHONE);
    await take(await context.newPage(), `http://localhost:${server.port}/`);
  } finally {
    await browser.close();
    await host.stop();
    await server.close();
    rmSync(folder, { recursive: true, force: true });
  }
});

/** @param {import('playwright-core').Page} tab @param {string} url */
async function take(tab, url) {
  const picture = async (/** @type {string} */ name) => {
    await tab.screenshot({ path: path.join(IMAGES, `${name}.png`) });
    say(`docs/images/${name}.png`);
  };
  await tab.goto(`${url}#token=${TOKEN}`);
  await tab.getByRole('textbox', { name: 'First message' }).fill('Run the tests');
  await tab.keyboard.press('Enter');
  await tab.getByRole('group', { name: 'Permission' }).waitFor();
  // What is tapped while a question appears is not taken for its answer.
  await tab.locator('[data-answer="approve"]:not([disabled])').first().waitFor();
  await picture('phone-asks');
  await tab.evaluate(`(${SHARE})()`);
  await tab.goto(`${url}#/share`);
  await tab.getByRole('heading', { name: 'Shared with Atrium' }).waitFor();
  await picture('phone-share');
  await tab.context().setOffline(true);
  await tab.reload();
  await tab.getByRole('heading', { name: 'You are offline' }).waitFor();
  await picture('phone-offline');
}
