/**
 * Takes the pictures of the documentation: a real host, a real browser, a small project that an agent works on.
 * `node scripts/screenshots.mjs work terminal` takes those parts only; the parts are page, work, terminal and cluster.
 */
import path from 'node:path';
import { launchChromium } from './browser.mjs';
import { takeCluster } from './pictures-cluster.mjs';
import { DAILY_PROMPTS, prepareDaily, takeDaily } from './pictures-daily.mjs';
import { begin, IMAGES, openScene, openTab, take } from './pictures-host.mjs';
import { takeTerminal } from './pictures-terminal.mjs';
import { takeWork, WORK_PROMPTS } from './pictures-work.mjs';
import { Problem, runMain } from './process.mjs';

const DESK = { width: 1280, height: 800 };
const PHONE = { width: 390, height: 780 };

const ANSWER = `The loop overwrites \`total\` instead of adding to it, so only the last value is left.

\`\`\`js
// what it should be
for (const value of values) total += value;
\`\`\`

I will change that one line, then run the tests.`;

const SCRIPT = {
  provider: 'demo',
  displayName: 'Demo',
  models: [{ id: 'demo-small', name: 'Demo small' }],
  prompts: {
    'sum() returns the last value. Please fix it.': [
      { title: 'Fix sum()' },
      { reasoning: 'The report says that only the last value counts. I should look at the loop first.' },
      { callTool: { name: 'read_file', input: { path: 'sum.js' } } },
      { text: ANSWER },
      {
        callTool: {
          name: 'edit_file',
          input: { path: 'sum.js', oldText: 'total = value;', newText: 'total += value;' },
        },
      },
      { text: 'Fixed. `sum([1, 2, 3])` is 6 now.' },
      { usage: { inputTokens: 4210, outputTokens: 380, model: 'demo-small' } },
    ],
    'Add a sort option.': [
      { title: 'Sort option' },
      {
        ask: {
          message: 'Before I start:',
          questions: [
            {
              kind: 'single-select',
              id: 'order',
              message: 'Which order should be the default?',
              options: [
                { id: 'up', label: 'Ascending', recommended: true },
                { id: 'down', label: 'Descending' },
              ],
            },
            { kind: 'text', id: 'name', message: 'What should the option be called?' },
          ],
        },
      },
      { text: 'Thank you.' },
    ],
    'Which cases does sum() not have tests for?': [
      { title: 'Tests of sum()' },
      { text: 'An empty list, negative numbers, and numbers too large to be added exactly.' },
    ],
    'Write the first two.': [
      { text: 'A worker writes them; I look at the result.' },
      {
        worker: {
          title: 'Write two tests',
          prompt: 'Write tests of sum() for an empty list and for negative numbers.',
          steps: [
            { callTool: { name: 'write_file', input: { path: 'sum.test.js', content: "import './sum.js';\n" } } },
            { text: 'Two tests are in sum.test.js.' },
          ],
        },
      },
      { text: 'The worker says: ${lastResult}' },
    ],
  },
  default: [{ text: 'You said: ${text}' }],
};

/** Each has a host of its own. @type {Record<string, (scene: import('./pictures-host.mjs').Scene) => Promise<void>>} */
const PARTS = { page: takePage, work: takeWork, terminal: takeTerminal, cluster: takeCluster };

async function main() {
  const asked = process.argv.slice(2);
  const unknown = asked.find((name) => !Object.keys(PARTS).includes(name));
  if (unknown !== undefined) throw new Problem(`There is no part ${unknown}. Parts: ${Object.keys(PARTS).join(', ')}.`);
  for (const [name, takePart] of Object.entries(PARTS)) {
    if (asked.length > 0 && !asked.includes(name)) continue;
    const browser = await launchChromium();
    const script = { ...SCRIPT, prompts: { ...SCRIPT.prompts, ...DAILY_PROMPTS, ...WORK_PROMPTS } };
    const scene = await openScene({ browser, script, viewport: DESK, prepare: prepareDaily });
    try {
      await takePart(scene);
    } finally {
      await browser.close();
      await scene.close();
    }
  }
}

/** @param {import('./pictures-host.mjs').Scene} scene */
async function takePage({ browser, desk, host }) {
  await desk.goto(host.url);
  await desk.getByLabel('Token, link, or the eight digits').waitFor();
  await take(desk, 'token');
  await desk.goto(host.link);
  await desk.getByRole('heading', { name: 'What should we work on?' }).waitFor();
  await take(desk, 'home');

  await begin(desk, 'sum() returns the last value. Please fix it.');
  await desk.locator('[data-answer=approve]').first().waitFor();
  await take(desk, 'approval');

  const dark = await (await browser.newContext({ viewport: DESK, colorScheme: 'dark' })).newPage();
  await dark.goto(host.link);
  await dark.getByRole('link', { name: /Fix sum/ }).click();
  await dark.locator('[data-answer=approve]').first().waitFor();
  await take(dark, 'approval-dark');

  const phone = await (
    await browser.newContext({ viewport: PHONE, colorScheme: 'light', deviceScaleFactor: 1, hasTouch: true })
  ).newPage();
  await phone.goto(host.link);
  await phone.getByRole('link', { name: /Fix sum/ }).waitFor();
  await take(phone, 'phone-home');
  await phone.getByRole('link', { name: /Fix sum/ }).tap();
  await phone.locator('[data-answer=approve]').first().waitFor();
  await take(phone, 'phone-approval');
  await phone.locator('[data-answer=approve]').first().click();

  await desk.getByText('is 6 now').waitFor();
  await take(desk, 'conversation');
  await dark.getByText('is 6 now').waitFor();
  await take(dark, 'conversation-dark');
  await desk.getByRole('button', { name: /^Changes \+/ }).click();
  await desk.getByRole('button', { name: /Changed sum\.js/ }).click();
  await desk.getByText('total = value;').last().waitFor();
  await take(desk, 'changes');
  await openTab(dark, 'Terminal');
  await dark.getByRole('button', { name: 'New terminal' }).click();
  await dark.locator('.xterm-screen').waitFor();
  await dark.keyboard.type(
    'git diff --stat && node -e "import(\'./sum.js\').then((m) => console.log(m.sum([1, 2, 3])))"\n',
  );
  await dark.waitForTimeout(1_500);
  await take(dark, 'terminal-dark');
  await desk.getByRole('button', { name: 'Details', exact: true }).click();
  await takeChats(desk);
  await desk.getByRole('link', { name: 'New' }).click();
  await begin(desk, 'Add a sort option.');
  await desk.getByRole('button', { name: 'Answer' }).waitFor();
  await take(desk, 'question');
  await desk.keyboard.press('Control+k');
  await desk.getByRole('combobox', { name: /Find/ }).waitFor();
  await take(desk, 'palette');
  await desk.keyboard.press('Escape');
  await takeDaily({ desk, picture: path.join(IMAGES, 'home.png'), take, begin });
  await host.stop();
  await desk.getByText('Connection lost').waitFor();
  await take(desk, 'disconnected');
}

/** A fork with a worker that waits. @param {import('playwright-core').Page} page */
async function takeChats(page) {
  await page.getByRole('link', { name: 'New' }).click();
  await begin(page, 'Which cases does sum() not have tests for?');
  await page.getByText('too large to be added').waitFor();
  await page.locator('.turn-end').hover();
  await page.getByRole('button', { name: 'Fork from here' }).click();
  await page.getByRole('navigation', { name: 'Chats' }).waitFor();
  await page.getByRole('textbox', { name: 'Message' }).fill('Write the first two.');
  await page.keyboard.press('Enter');
  await page.getByRole('link', { name: 'Go there' }).waitFor();
  await take(page, 'chats');
}

await runMain(main);
