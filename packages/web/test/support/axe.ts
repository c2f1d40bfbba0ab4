/** Looks for what makes a page hard to use for some people. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Page } from 'playwright-core';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** The policy of the page forbids inline scripts, so axe is run by the debugger. `rules`: all of them, if left out. */
export async function problemsOf(page: Page, rules?: readonly string[]): Promise<string[]> {
  await page.waitForTimeout(100);
  await page.evaluate(AXE);
  return page.evaluate(async (only) => {
    const { axe } = window as unknown as {
      axe: { run(options: object): Promise<{ violations: { id: string; nodes: { html: string }[] }[] }> };
    };
    const { violations } = await axe.run(only ? { runOnly: only } : {});
    return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 160)).join(' | ')}`);
  }, rules);
}
