/** The picture of the hosts of a cluster: `npm run demo:cluster` after its failover, in the page. `screenshots.mjs` takes it. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { take } from './pictures-host.mjs';
import { Problem, ROOT } from './process.mjs';

const DEMO_MAX_MS = 600_000;

/** @param {Pick<import('./pictures-host.mjs').Scene, 'browser'>} scene */
export async function takeCluster({ browser }) {
  const demo = spawn(process.execPath, [path.join(ROOT, 'scripts', 'demo-cluster.mjs'), '--keep'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const context = await browser.newContext({ viewport: { width: 1024, height: 640 } });
  try {
    const page = await context.newPage();
    await page.goto(await linkOf(demo.stdout.setEncoding('utf8')));
    await page.getByRole('navigation').getByRole('link').first().waitFor();
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox', { name: /Find/ }).fill('hosts of');
    await page.keyboard.press('Enter');
    await page.getByText('serves this page').waitFor();
    await take(page, 'hosts');
  } finally {
    await context.close();
    demo.kill('SIGINT');
    await once(demo, 'exit');
  }
}

/** Where the page is, once the demonstration stays as it is. @param {AsyncIterable<string>} output */
async function linkOf(output) {
  const late = AbortSignal.timeout(DEMO_MAX_MS);
  let said = '';
  for await (const text of output) {
    said += text;
    const [, link] = /Everything stays[\s\S]*?(http:\S+)/.exec(said) ?? [];
    if (link) return link;
    if (late.aborted) break;
  }
  throw new Problem(`the demonstration of a cluster did not come to its end:\n${said}`);
}
