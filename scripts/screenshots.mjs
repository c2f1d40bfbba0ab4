/** Takes the pictures of the documentation: a real host, a real browser, a small project that an agent works on. */
import { execFileSync, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { launchChromium } from './browser.mjs';
import { DAILY_PROMPTS, prepareDaily, takeDaily } from './pictures-daily.mjs';
import { ROOT, runMain, say } from './process.mjs';

const IMAGES = path.join(ROOT, 'docs', 'images');
const COMMAND = path.join(ROOT, 'packages', 'cli', 'bin', 'atrium.js');
const DESK = { width: 1280, height: 800 };
const PHONE = { width: 390, height: 780 };

const SUM_BEFORE =
  'export function sum(values) {\n  let total = 0;\n  for (const value of values) total = value;\n  return total;\n}\n';

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

async function main() {
  const folder = mkdtempSync(path.join(tmpdir(), 'atrium-pictures-'));
  const project = path.join(folder, 'calculator');
  mkdirSync(project);
  mkdirSync(IMAGES, { recursive: true });
  writeFileSync(path.join(project, 'sum.js'), SUM_BEFORE);
  writeFileSync(path.join(project, 'README.md'), '# Calculator\n\nAdds numbers.\n');
  commitAll(project);
  writeFileSync(
    path.join(folder, 'script.json'),
    JSON.stringify({ ...SCRIPT, prompts: { ...SCRIPT.prompts, ...DAILY_PROMPTS } }),
  );
  // The pictures must not show the shell prompt of the person who takes them.
  writeFileSync(path.join(folder, '.bashrc'), "PS1='\\w $ '\n");
  const model = await prepareDaily(folder, project);
  const host = await startHost(folder, project);
  const browser = await launchChromium();
  try {
    await takeAll(browser, host);
  } finally {
    await browser.close();
    await host.stop();
    model.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** @param {string} project */
function commitAll(project) {
  const identity = ['-c', 'user.name=desk', '-c', 'user.email=desk@example.com'];
  const git = (/** @type {string[]} */ ...args) => execFileSync('git', ['-C', project, ...identity, ...args]);
  git('init', '--quiet', '-b', 'main');
  git('add', '.');
  git('commit', '--quiet', '-m', 'A calculator');
}

/** @param {string} folder @param {string} project */
async function startHost(folder, project) {
  const dataDir = path.join(folder, 'data');
  const args = ['serve', '--quiet', '--port', '0', '--gateway-port', '0', '--data-dir', dataDir];
  const config = path.join(folder, '.config');
  const env = { ...process.env, HOME: folder, XDG_CONFIG_HOME: config, ATRIUM_DISCOVERY: '0' };
  const child = spawn(process.execPath, [COMMAND, ...args, '--script', path.join(folder, 'script.json')], {
    cwd: project,
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const port = await new Promise((resolve, reject) => {
    child.stdout.on('data', (chunk) => resolve(/READY:(\d+)/.exec(String(chunk))?.[1]));
    child.once('exit', (code) => reject(new Error(`the host ended with ${code}`)));
  });
  const token = readFileSync(path.join(dataDir, 'connection-token'), 'utf8').trim();
  const stop = () =>
    new Promise((resolve) => {
      if (child.exitCode !== null || child.signalCode !== null) return resolve(undefined);
      child.once('exit', resolve);
      child.kill('SIGTERM');
    });
  return { url: `http://localhost:${port}/`, link: `http://localhost:${port}/#token=${token}`, stop };
}

/**
 * @param {import('playwright-core').Browser} browser
 * @param {{ url: string, link: string, stop: () => Promise<unknown> }} host
 */
async function takeAll(browser, host) {
  const desk = await (await browser.newContext({ viewport: DESK, colorScheme: 'light' })).newPage();
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

/** @param {import('playwright-core').Page} page @param {string} name */
async function openTab(page, name) {
  const tab = page.getByRole('tab', { name });
  if (!(await tab.isVisible())) await page.getByRole('button', { name: 'Details', exact: true }).click();
  await tab.click();
}

/** @param {import('playwright-core').Page} page @param {string} text */
async function begin(page, text) {
  await page.getByRole('textbox', { name: 'First message' }).fill(text);
  await page.keyboard.press('Enter');
}

/** @param {import('playwright-core').Page} page @param {string} name */
async function take(page, name) {
  // Fonts, colours of code and the first layout need a moment.
  await page.waitForTimeout(400);
  await page.screenshot({ path: path.join(IMAGES, `${name}.png`) });
  say(`docs/images/${name}.png`);
}

await runMain(main);
