/** Notifications in a real browser: the settings, the service worker with real push events, and pages that are hidden. */
import { fileURLToPath, pathToFileURL } from 'node:url';
import {
  builtinTools,
  type Clock,
  createHost,
  MemoryLog,
  scriptedAgent,
  startServer,
  staticFiles,
  systemClock,
} from '@atrium/host';
import type { NotificationMessage } from '@atrium/protocol/ahp-1';
import type { Page } from 'playwright-core';
import { describe, expect, it, onTestFinished } from 'vitest';
import { startServer as startPushService, TestBrowser, type TestServer } from '../../host/test/support/push-service.js';
import { tempFolder } from '../../host/test/support/temp-folder.js';
import { problemsOf } from './support/axe.js';
import {
  begin,
  DESKTOP,
  describeInBrowser,
  HAS_NO_WINDOW,
  NEEDS_WINDOW,
  PAGE_FOLDER,
  PHONE,
  POLL,
} from './support/browser.js';
import { TOKEN } from './support/page-host.js';
import { onLastingPort } from './support/ports.js';

const WITH_WORKER = { ...DESKTOP, serviceWorkers: 'allow' as const };

/** The delays before somebody is told are a fiftieth of what they are. */
const QUICK: Clock = { now: () => Date.now(), after: (ms, callback) => systemClock.after(ms / 50, callback) };

const PROMPTS = {
  run: [{ callTool: { name: 'shell', input: { command: 'echo told > told.txt' } } }, { text: 'Ran.' }],
};

async function start(service: TestServer) {
  const folder = await tempFolder();
  const agent = scriptedAgent({
    provider: 'mock',
    displayName: 'Mock',
    prompts: PROMPTS,
    default: [{ text: 'Done.' }],
  } as never);
  const host = await createHost({
    ...{ log: new MemoryLog(), agents: [agent], tools: builtinTools(), clock: QUICK },
    defaultDirectory: pathToFileURL(folder).href,
    notifications: { desktop: null, ...service.reach },
  });
  const policy = { token: TOKEN, isGenerated: true };
  const page = await staticFiles(PAGE_FOLDER);
  const onConnection = host.connect.bind(host);
  const server = await onLastingPort((port) =>
    startServer({ port, policy, page, devices: host.devices, onConnection }),
  );
  onTestFinished(async () => {
    await host.stop();
    await server.close();
  });
  return { link: `http://localhost:${server.port}/#token=${TOKEN}`, origin: `http://localhost:${server.port}` };
}

/** Asks the host on the page's own socket would need its client: a second one does it. */
async function request(page: Page, method: string, params: object): Promise<unknown> {
  return page.evaluate(
    ([token, name, given]) =>
      new Promise((resolve, reject) => {
        const socket = new WebSocket(`ws://${location.host}/?token=${token}`);
        const send = (id: number, what: unknown, values: unknown) =>
          socket.send(JSON.stringify({ jsonrpc: '2.0', id, method: what, params: values }));
        socket.onopen = () =>
          send(1, 'initialize', { channel: 'ahp-root://', protocolVersions: ['1.0.0'], clientId: crypto.randomUUID() });
        socket.onmessage = ({ data }) => {
          const { id, result, error } = JSON.parse(data);
          if (id === 1) send(2, name, given);
          if (id !== 2) return;
          socket.close();
          if (error) reject(new Error(error.message));
          else resolve(result);
        };
      }),
    [TOKEN, method, params] as const,
  );
}

/** What the browser's own push client does with a message that it has decrypted. Waits until the worker has done with it. */
async function deliver(page: Page, origin: string, message: NotificationMessage): Promise<void> {
  const session = await page.context().newCDPSession(page);
  let registrationId = '';
  session.on('ServiceWorker.workerRegistrationUpdated', ({ registrations }) => {
    registrationId = registrations.find(({ scopeURL }) => scopeURL === `${origin}/`)?.registrationId ?? registrationId;
  });
  await session.send('ServiceWorker.enable');
  await expect.poll(() => registrationId, POLL).not.toBe('');
  const before = await pushesHandled(page);
  await session.send('ServiceWorker.deliverPushMessage', { origin, registrationId, data: JSON.stringify(message) });
  await expect.poll(() => pushesHandled(page), POLL).toBe(before + 1);
  await session.detach();
}

interface Counting {
  pushesHandled?: number;
}

/**
 * How many pushes the worker has done with since it was first asked. Chromium forgets a notification when somebody asks which
 * ones there are while it is being shown, and a test asks often.
 */
async function pushesHandled(page: Page): Promise<number> {
  await expect.poll(() => page.context().serviceWorkers().length, POLL).toBe(1);
  const [worker] = page.context().serviceWorkers();
  return (
    worker?.evaluate(() => {
      const counting = globalThis as Counting;
      if (counting.pushesHandled !== undefined) return counting.pushesHandled;
      counting.pushesHandled = 0;
      const { prototype } = (globalThis as unknown as { ExtendableEvent: { prototype: PushEventLike } })
        .ExtendableEvent;
      const { waitUntil } = prototype;
      prototype.waitUntil = function (work) {
        waitUntil.call(this, work);
        const count = () => {
          counting.pushesHandled = (counting.pushesHandled ?? 0) + 1;
        };
        if (this.type === 'push') void work.then(count, count);
      };
      return 0;
    }) ?? 0
  );
}

interface PushEventLike extends Event {
  waitUntil(work: Promise<unknown>): void;
}

const shown = (page: Page) =>
  page.evaluate(async () => {
    const registration = await navigator.serviceWorker.ready;
    const all = await registration.getNotifications();
    return all.map((each) => {
      const { actions = [] } = each as unknown as { actions?: { action: string }[] };
      return { title: each.title, body: each.body, tag: each.tag, actions: actions.map(({ action }) => action) };
    });
  });

/** A person presses a button of the notification, or the notification itself. */
async function press(page: Page, action: string): Promise<void> {
  const [worker] = page.context().serviceWorkers();
  await worker?.evaluate(async (pressed) => {
    const scope = globalThis as unknown as {
      registration: ServiceWorkerRegistration;
      NotificationEvent: new (type: string, init: object) => Event;
      dispatchEvent(event: Event): void;
    };
    const [notification] = await scope.registration.getNotifications();
    const event = new scope.NotificationEvent('notificationclick', { notification, action: pressed });
    const work: Promise<unknown>[] = [];
    // Only the browser's own events can be waited for.
    Object.defineProperty(event, 'waitUntil', { value: (promise: Promise<unknown>) => work.push(promise) });
    scope.dispatchEvent(event);
    await Promise.all(work).catch(() => {});
  }, action);
}

async function openAllowed(open: (link: string) => Promise<Page>, link: string, origin: string): Promise<Page> {
  const page = await open(link);
  await page.context().grantPermissions(['notifications'], { origin });
  await page.evaluate(() =>
    navigator.serviceWorker.register('/service-worker.js').then(() => navigator.serviceWorker.ready),
  );
  return page;
}

/** Hides the page as another tab in front of it would. */
const hide = (page: Page) =>
  page.evaluate(() => {
    Object.defineProperty(document, 'visibilityState', { configurable: true, get: () => 'hidden' });
    document.dispatchEvent(new Event('visibilitychange'));
  });

/** By its name: its types are of another world than those of pages. */
const WORKER = fileURLToPath(new URL('../service-worker/notifications.ts', import.meta.url));

describe('the service worker', () => {
  it('[DEV-043] asks for no notifications while it shows one: Chromium would forget that one', async () => {
    const { onPush }: { onPush(scope: object, event: object): Promise<void> } = await import(WORKER);
    const asked: string[] = [];
    let hasShown = () => {};
    const registration = {
      getNotifications: async ({ tag }: { tag: string }) => {
        asked.push(tag);
        return [];
      },
      showNotification: () => new Promise<void>((resolve) => (hasShown = resolve)),
    };
    const push = (tag: string) => {
      const message: NotificationMessage = { id: tag, tag, kind: 'show', event: 'ended', title: 'Atrium' };
      return onPush({ registration }, { data: { json: () => message } });
    };
    const first = push('first');
    await expect.poll(() => asked).toEqual(['first']);
    const second = push('second');
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(asked).toEqual(['first']);
    hasShown();
    await first;
    await expect.poll(() => asked).toEqual(['first', 'second']);
    hasShown();
    await second;
  });
});

describeInBrowser('notifications', (open) => {
  it('[DEV-043] a push shows the whole command, Allow runs it, a late one says so, and it is taken back', async ({
    skip,
  }) => {
    skip(HAS_NO_WINDOW, NEEDS_WINDOW);
    const service = await startPushService(true);
    const { link, origin } = await start(service);
    const page = await openAllowed((to) => open(to, WITH_WORKER, { needsWindow: true }), link, origin);
    const browser = new TestBrowser(`${service.url}push/1`);
    const rule = { events: ['question'], detail: 'command' };
    await request(page, 'atrium/setReceiver', { kind: 'push', subscription: browser.subscription, rule });
    await begin(page, 'run');
    await page.getByRole('button', { name: 'Run', exact: true }).waitFor();
    await hide(page);
    const message = browser.read(await service.until(1));
    expect(message.body).toBe('Needs an answer: Shell: echo told > told.txt');
    await deliver(page, origin, message);
    await expect.poll(() => shown(page), POLL).toMatchObject([{ body: message.body, actions: ['allow', 'deny'] }]);
    // The same message again, as after a crash of the host, is not shown a second time.
    await page.evaluate(async () => {
      for (const each of await (await navigator.serviceWorker.ready).getNotifications()) each.close();
    });
    await deliver(page, origin, message);
    await deliver(page, origin, { ...message, id: 'another', tag: 'another' });
    await expect.poll(() => shown(page), POLL).toMatchObject([{ tag: 'another' }]);
    await press(page, 'allow');
    await page.getByText('Ran.').waitFor();
    const closing = browser.read(await service.until(2));
    expect(closing).toMatchObject({ kind: 'close', tag: message.tag });
    // Somebody presses what is still on another screen.
    await deliver(page, origin, { ...message, id: 'late' });
    await expect.poll(() => shown(page), POLL).toHaveLength(1);
    await press(page, 'deny');
    await expect
      .poll(() => shown(page), POLL)
      .toMatchObject([{ body: 'This question is no longer open. Nothing was done.', actions: [] }]);
    await deliver(page, origin, closing);
    await expect.poll(() => shown(page), POLL).toEqual([]);
    await page.goto(`${origin}/#/`);
    // Under another tag: Chromium may still be closing what had this one, and would close the new one with it.
    await deliver(page, origin, { ...message, id: 'open', tag: 'open', answerKey: undefined } as never);
    await expect.poll(() => shown(page), POLL).toHaveLength(1);
    await press(page, '');
    await expect.poll(() => page.url(), POLL).toContain(encodeURIComponent(message.session ?? ''));
  });

  it('[DEV-040] [DEV-045] a device is switched on, has a rule, and shows what happens while its page is hidden', async () => {
    const { link, origin } = await start(await startPushService());
    const page = await open(link, WITH_WORKER, { isNew: true });
    await page.context().grantPermissions(['notifications'], { origin });
    await page.evaluate(() => {
      const told: string[] = [];
      Object.assign(globalThis, { told });
      class Shown extends EventTarget {
        static permission = 'granted';
        static requestPermission = async () => 'granted';
        constructor(title: string, { body = '', tag = '' }) {
          super();
          told.push(`${title}: ${body}`);
          Object.assign(this, { tag });
        }
        close() {
          told.push('closed');
        }
      }
      Object.defineProperty(globalThis, 'Notification', { value: Shown, configurable: true });
    });
    await begin(page, 'hello');
    await page.getByText('Done.').waitFor();
    await page.getByRole('textbox', { name: 'Message' }).fill('/notify');
    await page.keyboard.press('Enter');
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('switch', { name: 'Notifications on this device' }).click();
    // Headless browsers have no push service.
    await dialog.getByText('While this page is open in another tab or window').waitFor({ timeout: 30_000 });
    await dialog.getByLabel('It has failed').uncheck();
    await dialog.getByLabel('What is said').selectOption('command');
    await dialog.getByLabel('Quiet hours').check();
    await dialog.getByLabel('From').fill('03:00');
    await dialog.getByLabel('Until').fill('03:01');
    const stored = async () => {
      const { items } = (await request(page, 'atrium/notifications', {})) as { items: { rule: object }[] };
      return items[0]?.rule;
    };
    await expect.poll(stored, POLL).toMatchObject({
      events: ['question', 'ended', 'budget', 'automation'],
      detail: 'command',
      quiet: { from: '03:00', to: '03:01' },
    });
    expect(await problemsOf(page)).toEqual([]);
    await page.keyboard.press('Escape');
    await page.getByRole('textbox', { name: 'Message' }).fill('again');
    await page.keyboard.press('Enter');
    await hide(page);
    const told = () => page.evaluate(() => (globalThis as unknown as { told: string[] }).told);
    await expect.poll(told, POLL).toEqual([expect.stringContaining('Is done: Done.')]);
  });

  it('[DEV-044] a webhook is added in the settings of a phone, with its secret once', async () => {
    const { link } = await start(await startPushService());
    const page = await open(link, PHONE);
    await begin(page, 'hello');
    await page.getByText('Done.').waitFor();
    await page.evaluate(() => {
      location.hash = '#/';
    });
    await page.getByRole('button', { name: 'Settings' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('Add a webhook').click();
    await dialog.getByLabel('Address').fill('http://hooks.example/');
    await dialog.locator('details').getByRole('button', { name: 'Add', exact: true }).click();
    await dialog.getByText('only https addresses are asked').waitFor();
    await dialog.getByLabel('Address').fill('https://hooks.example/atrium');
    await dialog.locator('details').getByRole('button', { name: 'Add', exact: true }).click();
    await dialog.getByText('which is not shown again').waitFor();
    expect(await dialog.locator('.secret code').innerText()).toHaveLength(43);
    expect(await problemsOf(page)).toEqual([]);
    await dialog.getByText('https://hooks.example', { exact: false }).first().click();
    await dialog.getByRole('button', { name: 'Remove' }).click();
    await expect.poll(() => dialog.getByRole('list', { name: 'Other receivers' }).locator('li').count(), POLL).toBe(0);
  });
});
