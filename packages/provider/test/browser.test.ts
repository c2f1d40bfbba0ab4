import { createReadStream } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import type { ToolCallState } from '@atrium/protocol/ahp-1';
import { describe, expect, it, onTestFinished } from 'vitest';
import { CHROMIUM_MISSING, findChromium, launchChromium } from '../../../scripts/browser.mjs';
import { codeOf } from './support/project-fixture.js';
import { type RealHost, startRealHost, textOf, untilTool } from './support/real-host.js';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.mjs': 'text/javascript',
};
const CALL = (name: string) => [{ callTool: { name, input: {} } }, { text: '${lastResult}' }];

/** The repository, served as the example says. */
async function serveRepository(): Promise<string> {
  const server = createServer(({ url = '/' }, response) => {
    const file = path.join(ROOT, path.normalize(url.split('?')[0] ?? ''));
    response.setHeader('Content-Type', TYPES[path.extname(file)] ?? 'text/plain');
    createReadStream(file)
      .on('error', () => response.writeHead(404).end())
      .pipe(response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function openPage(url: string) {
  const browser = await launchChromium({ isLight: true });
  onTestFinished(() => browser.close());
  const page = await browser.newPage();
  await page.goto(url);
  return page;
}

/** A person who lets everything run. */
function approveAll({ session }: RealHost): void {
  const asked = new Set<string>();
  const off = session.chat.onChange(({ activeTurn }) => {
    const calls = (activeTurn?.responseParts ?? []).flatMap((part): ToolCallState[] =>
      part.kind === 'toolCall' ? [part.toolCall] : [],
    );
    for (const { toolCallId, status } of calls) {
      if (!activeTurn || status !== 'pending-confirmation' || asked.has(toolCallId)) continue;
      asked.add(toolCallId);
      const approval = { approved: true, confirmed: 'user-action' } as const;
      void session.dispatch({ type: 'chat/toolCallConfirmed', turnId: activeTurn.id, toolCallId, ...approval });
    }
  });
  onTestFinished(off);
}

const missing = findChromium() ? '' : ` (${CHROMIUM_MISSING})`;

describe.skipIf(missing !== '')(`a page in a real browser${missing}`, { timeout: 60_000 }, () => {
  it('[GW-034] [GW-037] lend-this-tab.html pairs, lends its tab, and comes back after a reload without a code', async () => {
    const fixture = await startRealHost({ prompts: { where: CALL('tab_info'), draw: CALL('tab_drawing') } });
    approveAll(fixture);
    const place = await serveRepository();
    const page = await openPage(`${place}/examples/providers/lend-this-tab.html?gateway=${fixture.url}`);
    await page.locator('#code').fill(await codeOf(fixture));
    await page.getByRole('button', { name: 'Pair' }).click();
    await untilTool(fixture.session, 'tab_info');
    await page.getByRole('status').filter({ hasText: 'Lent to the session' }).waitFor();
    expect(textOf(await fixture.say('where'))).toContain('A tab on loan');
    const drawn = await fixture.say('draw');
    const [picture] = drawn.responseParts.flatMap((part) =>
      part.kind === 'toolCall' && part.toolCall.status === 'completed' ? (part.toolCall.content ?? []) : [],
    );
    expect(picture).toMatchObject({ type: 'embeddedResource', contentType: 'image/png' });
    await page.reload();
    await page.getByRole('status').filter({ hasText: 'Lent to the session' }).waitFor();
    await untilTool(fixture.session, 'tab_info');
    expect(await page.locator('#pairing').isHidden()).toBe(true);
    expect(fixture.session.state.session.inputNeeded ?? []).toEqual([]);
  });

  it('minimal-browser.html pairs with nothing but what a browser has, and tells its title', async () => {
    const fixture = await startRealHost({ prompts: { title: CALL('page_title') } });
    approveAll(fixture);
    const place = await serveRepository();
    const page = await openPage(`${place}/examples/providers/minimal-browser.html?gateway=${fixture.url}`);
    await page.locator('#code').fill(await codeOf(fixture));
    await page.getByRole('button', { name: 'Pair' }).click();
    await untilTool(fixture.session, 'page_title');
    expect(textOf(await fixture.say('title'))).toContain('A page that can be asked for its title');
  });
});
