/** The page as an app: it can be installed, opens without a network and says so, and takes what other apps share. */
import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { problemsOf } from './support/axe.js';
import { begin, describeInBrowser, HAS_NO_WINDOW, NEEDS_WINDOW, PHONE, POLL } from './support/browser.js';
import { startPageHost, TOKEN } from './support/page-host.js';
import { cutterOf } from './support/sockets.js';

const APP = { ...PHONE, serviceWorkers: 'allow' as const };
const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

/** The page would do this by itself a little later. */
async function withWorker(page: Page): Promise<void> {
  await page.evaluate(async () => {
    await navigator.serviceWorker.register('/service-worker.js', { scope: '/' });
    await navigator.serviceWorker.ready;
    if (navigator.serviceWorker.controller) return;
    await new Promise((resolve) =>
      navigator.serviceWorker.addEventListener('controllerchange', resolve, { once: true }),
    );
  });
}

/** Everything that the browser keeps for this page in caches: addresses and texts. */
function cached(page: Page): Promise<{ urls: string[]; text: string }> {
  return page.evaluate(async () => {
    const urls: string[] = [];
    let text = '';
    for (const name of await caches.keys()) {
      const cache = await caches.open(name);
      for (const request of await cache.keys()) {
        urls.push(new URL(request.url).pathname);
        text += await (await cache.match(request))?.text();
      }
    }
    return { urls, text };
  });
}

describeInBrowser('the page as an app', (open) => {
  it('[DEV-061] can be installed: Chromium finds no fault in manifest and icons', async () => {
    const { link, url } = await startPageHost({});
    const page = await open(link, APP);
    const tools = await page.context().newCDPSession(page);
    const { errors, data = '{}' } = await tools.send('Page.getAppManifest');
    expect(errors).toEqual([]);
    const manifest: { icons: { src: string; sizes: string; type: string; purpose?: string }[] } = JSON.parse(data);
    expect(manifest).toMatchObject({ display: 'standalone', start_url: '/', scope: '/', theme_color: '#0f6e66' });
    expect(manifest.icons.map(({ purpose = 'any' }) => purpose)).toContain('maskable');
    for (const { src, sizes, type } of manifest.icons) {
      const answer = await fetch(new URL(src, url));
      expect(answer.headers.get('content-type')).toBe(type);
      if (sizes === 'any') continue;
      const picture = Buffer.from(await answer.arrayBuffer());
      expect(`${picture.readUInt32BE(16)}x${picture.readUInt32BE(20)}`).toBe(sizes);
    }
    const { installabilityErrors } = await tools.send('Page.getInstallabilityErrors');
    // A context of a test is a private window, where nothing is installed.
    expect(installabilityErrors.map(({ errorId }) => errorId).filter((id) => id !== 'in-incognito')).toEqual([]);
    expect(await problemsOf(page)).toEqual([]);
  });

  it('[DEV-062] opens without a network, says so, shows nothing of the sessions, and has kept neither them nor a token', async ({
    skip,
  }) => {
    skip(HAS_NO_WINDOW, NEEDS_WINDOW);
    const { link } = await startPageHost({});
    const page = await open(link, APP, { needsWindow: true });
    await withWorker(page);
    await begin(page, 'a secret plan');
    await page.getByText('You said: a secret plan').waitFor();
    await page.reload();
    await page.getByText('You said: a secret plan').waitFor();
    const { urls, text } = await cached(page);
    expect(urls.length).toBeGreaterThan(2);
    expect(urls.filter((path) => path !== '/' && !/^\/assets\/[\w.-]+\.(js|css)$/.test(path))).toEqual([]);
    expect(text).not.toContain('secret plan');
    expect(text).not.toContain(TOKEN);

    await page.context().setOffline(true);
    await page.reload();
    await page.getByRole('heading', { name: 'You are offline' }).waitFor();
    expect(await page.getByText('secret plan').count()).toBe(0);
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390);
    expect(await problemsOf(page)).toEqual([]);
    await page.context().setOffline(false);
    await page.getByText('You said: a secret plan').waitFor();
  });

  it('[DEV-062] takes the page of an upgraded host: the new document at once, and old files are forgotten', async () => {
    const { link } = await startPageHost({});
    const page = await open(link, APP, { isNew: true });
    await withWorker(page);
    await page.evaluate(() =>
      caches.open('atrium-shell-of-before').then((cache) => cache.put('/', new Response('old'))),
    );
    // Another worker takes over, as it does when its script has changed. While a page has the old one, it would come back.
    await page.evaluate(async () => {
      const registration = await navigator.serviceWorker.getRegistration();
      await registration?.unregister();
    });
    await page.goto('about:blank');
    await page.goto(link);
    await withWorker(page);
    await expect.poll(() => page.evaluate(() => caches.keys()), POLL).toHaveLength(1);
    await page.reload();
    expect(await page.evaluate(() => document.body.textContent)).not.toBe('old');
    await page.getByRole('textbox', { name: 'First message' }).waitFor();
  });

  it('[DEV-062] an open page says that the host has a newer one, and loads it when nobody looks', async () => {
    const { link } = await startPageHost({});
    const page = await open(link);
    const cut = await cutterOf(page);
    await page.getByRole('textbox', { name: 'First message' }).waitFor();
    await page.route('**/', async (route) => {
      const answer = await route.fetch();
      await route.fulfill({
        response: answer,
        body: (await answer.text()).replace(/index-[\w-]+\.js/, 'index-newer.js'),
      });
    });
    await cut();
    await page.getByText('The host has a newer page.').waitFor();
    expect(await problemsOf(page)).toEqual([]);
    await page.unroute('**/');
    const loaded = page.waitForEvent('load');
    await page.getByRole('button', { name: 'Load it' }).waitFor();
    await page.evaluate(() => {
      Object.defineProperty(document, 'hidden', { get: () => true });
      document.dispatchEvent(new Event('visibilitychange'));
    });
    await loaded;
    await page.getByRole('textbox', { name: 'First message' }).waitFor();
    expect(await page.getByText('newer page').count()).toBe(0);
  });

  it('[DEV-063] shows on its icon how many sessions wait', async () => {
    const { link } = await startPageHost({
      ask: [{ callTool: { name: 'write_file', input: { path: 'new.txt', content: 'hello' } } }],
    });
    const page = await open('about:blank', PHONE);
    await page.addInitScript(() => {
      const badges: number[] = [];
      Object.assign(window, { badges });
      Object.assign(Navigator.prototype, {
        setAppBadge: async (count: number) => void badges.push(count),
        clearAppBadge: async () => void badges.push(0),
      });
    });
    await page.goto(link);
    await page.getByRole('textbox', { name: 'First message' }).waitFor();
    const badges = () => page.evaluate(() => (window as unknown as { badges: number[] }).badges.at(-1));
    await expect.poll(badges, POLL).toBe(0);
    await begin(page, 'ask');
    await expect.poll(badges, POLL).toBe(1);
    expect(await page.title()).toMatch(/^\(1\) .+ – Atrium$/);
    await page.getByRole('group', { name: 'Permission' }).locator('[data-answer="deny"]').first().click();
    await expect.poll(badges, POLL).toBe(0);
  });

  it('[DEV-064] takes text, a link and a picture from another app, asks where they go, and sends nothing by itself', async () => {
    const { link, host } = await startPageHost(
      { first: [{ title: 'First talk' }, { text: 'You said: first' }] },
      undefined,
      { storesContents: true },
    );
    const page = await open(link, APP, { isNew: true });
    await withWorker(page);
    await begin(page, 'first');
    await page.getByText('You said: first').waitFor();
    const answered = await page.evaluate(async (pixel) => {
      const form = new FormData();
      form.set('title', 'A page');
      form.set('text', 'look at this');
      form.set('url', 'https://example.com/page');
      const bytes = Uint8Array.from(atob(pixel), (letter) => letter.charCodeAt(0));
      form.set('files', new File([bytes], 'dot.png', { type: 'image/png' }));
      const { ok, redirected } = await fetch('/share', { method: 'POST', body: form });
      return { ok, redirected };
    }, PIXEL);
    // The host itself knows no such path: the worker took it.
    expect(answered).toEqual({ ok: true, redirected: true });
    expect(host.activity.working).toBe(0);
    expect((await fetch(new URL('/share', link), { method: 'POST', body: 'x' })).status).toBe(404);

    await page.goto(`${link.split('#')[0]}#/share`);
    await page.getByRole('heading', { name: 'Shared with Atrium' }).waitFor();
    await page.getByText('look at this').waitFor();
    expect(await problemsOf(page)).toEqual([]);
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390);
    await page.getByRole('radio', { name: 'First talk' }).check();
    await page.getByRole('button', { name: 'Put into the message' }).click();
    const field = page.locator('#composer');
    await expect.poll(() => field.inputValue(), POLL).toBe('A page\n\nlook at this\n\nhttps://example.com/page');
    const attached = page.locator('.composer').getByRole('list', { name: 'Attachments' }).getByRole('listitem');
    await expect.poll(() => attached.count(), POLL).toBe(1);
    await expect.poll(() => page.locator('.composer .picture img').count(), POLL).toBe(1);
    // It waits for the person.
    expect(await page.getByText('You said: A page').count()).toBe(0);
    await page.getByRole('button', { name: /^Send/ }).click();
    await page.getByText('You said: A page').waitFor();
    await page.goto(`${link.split('#')[0]}#/share`);
    await page.getByRole('heading', { name: 'Nothing was shared' }).waitFor();
  });
});
