/** `node scripts/phone-pictures.mjs` takes the pictures of docs/phone.md and the list of docs/devices.md: a real host and the page in a Chromium that is a phone. */
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
    const url = `http://localhost:${server.port}/`;
    await pair(browser, url);
    const context = await browser.newContext(PHONE);
    await take(await context.newPage(), url);
  } finally {
    await browser.close();
    await host.stop();
    await server.close();
    rmSync(folder, { recursive: true, force: true });
  }
});

/**
 * A phone that is let in with the link of the QR code on a desk.
 *
 * @param {import('playwright-core').Browser} browser @param {string} url
 */
async function pair(browser, url) {
  const desk = await browser.newPage();
  await desk.goto(`${url}#token=${TOKEN}`);
  await desk.getByRole('button', { name: /^Devices/ }).click();
  await desk.getByRole('textbox', { name: 'Name', exact: true }).fill('My phone');
  await desk.getByRole('button', { name: 'Add a device' }).click();
  const link = await desk.getByRole('textbox', { name: 'Link for the new device' }).inputValue();
  const context = await browser.newContext(PHONE);
  const phone = await context.newPage();
  await phone.goto(link);
  await phone.getByRole('button', { name: 'Come in' }).waitFor();
  await picture(phone, 'phone-pairs');
  await phone.getByRole('button', { name: 'Come in' }).click();
  await desk.getByText('The device is in.').waitFor();
  await desk.getByText(/, connected/).waitFor();
  await picture(desk, 'devices-list');
  await Promise.all([context.close(), desk.close()]);
}

/** @param {import('playwright-core').Page} tab @param {string} name */
async function picture(tab, name) {
  await tab.screenshot({ path: path.join(IMAGES, `${name}.png`) });
  say(`docs/images/${name}.png`);
}

/** @param {import('playwright-core').Page} tab @param {string} url */
async function take(tab, url) {
  await tab.goto(`${url}#token=${TOKEN}`);
  await tab.getByRole('textbox', { name: 'First message' }).fill('Run the tests');
  await tab.keyboard.press('Enter');
  await tab.getByRole('group', { name: 'Permission' }).waitFor();
  // What is tapped while a question appears is not taken for its answer.
  await tab.locator('[data-answer="approve"]:not([disabled])').first().waitFor();
  await picture(tab, 'phone-asks');
  await tab.evaluate(`(${SHARE})()`);
  await tab.goto(`${url}#/share`);
  await tab.getByRole('heading', { name: 'Shared with Atrium' }).waitFor();
  await picture(tab, 'phone-share');
  await tab.context().setOffline(true);
  await tab.reload();
  await tab.getByRole('heading', { name: 'You are offline' }).waitFor();
  await picture(tab, 'phone-offline');
}
