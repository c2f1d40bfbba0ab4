/** The pictures of what runs, asks and is set: options of a model, the background, the web, rules, a worktree, a budget. `screenshots.mjs` takes them. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { COMMAND } from './pictures-host.mjs';

const TESTS = `import assert from 'node:assert';
import test from 'node:test';
import { sum } from './sum.js';

test('the sum of nothing is 0', () => assert.equal(sum([]), 0));
test('the sum of one value is that value', () => assert.equal(sum([7]), 7));
`;

const shell = (/** @type {string} */ command, more = {}) => ({
  callTool: { name: 'shell', input: { command, ...more } },
});

/** What the scripted agent plays. @type {Record<string, object[]>} */
export const WORK_PROMPTS = {
  'Run sum.js whenever it changes.': [
    { title: 'Run on every change' },
    shell('node --watch sum.js', { background: true }),
    { text: 'It runs in the background; I hear of what it prints.' },
  ],
  'How do tests run side by side in Node?': [
    { title: 'Tests side by side' },
    { callTool: { name: 'web_fetch', input: { url: 'https://nodejs.org/api/test.html' } } },
    { text: 'I could not read the page.' },
  ],
  'Write tests of sum().': [
    { title: 'Tests of sum()' },
    { callTool: { name: 'write_file', input: { path: 'sum.test.js', content: TESTS } } },
    shell('npm test'),
    shell('git add sum.test.js && git commit --quiet --message "Test sum()"'),
    { text: 'Two tests pass, and are committed.' },
  ],
  'Count the callers of sum().': [
    { title: 'Callers of sum()' },
    { text: 'There is one: `average.js`.' },
    { usage: { inputTokens: 24_000, outputTokens: 310, model: 'demo-small' } },
  ],
};

/** @param {import('./pictures-host.mjs').Scene} scene */
export async function takeWork(scene) {
  await scene.open();
  await takeModelOptions(scene);
  await takeBackground(scene);
  await takeWeb(scene);
  await takeRules(scene);
  await takeWorktree(scene);
  await takeBudget(scene);
}

/** @param {import('./pictures-host.mjs').Scene} scene */
async function takeModelOptions({ desk, take, begin, anew }) {
  await anew();
  await desk.getByLabel('Agent', { exact: true }).selectOption('house');
  await begin('What did we do to sum()?');
  await desk.getByText('Tests of an empty list are missing.').first().waitFor();
  await desk.getByRole('combobox', { name: 'Reasoning effort' }).selectOption('high');
  await desk.getByRole('spinbutton', { name: 'Temperature' }).fill('0.5');
  await desk.getByRole('button', { name: 'Hide details' }).click();
  await desk.getByRole('textbox', { name: 'Message' }).fill('Which tests are missing, and why does each matter?');
  await take('model-options');
}

/** @param {import('./pictures-host.mjs').Scene} scene */
async function takeBackground({ desk, take, begin, anew, openTab }) {
  await anew();
  await desk.getByLabel('Agent', { exact: true }).selectOption('demo');
  await begin('Run sum.js whenever it changes.');
  await desk.locator('[data-answer=approve]').first().click();
  await desk.getByText('1 command in the background').click();
  await desk.getByRole('button', { name: /^Terminal node --watch/ }).click();
  await openTab('Terminal');
  await desk.getByText('I hear of what it prints').waitFor();
  await desk.waitForTimeout(1_500);
  await take('background');
  await desk.getByRole('button', { name: 'Hide details' }).click();
}

/** @param {import('./pictures-host.mjs').Scene} scene */
async function takeWeb({ desk, take, begin, anew }) {
  await anew();
  await begin('How do tests run side by side in Node?');
  await desk.getByRole('button', { name: 'Always allow …' }).click();
  await take('web-fetch');
  await desk.locator('[data-answer=deny]').first().click();
  await desk.getByText('I could not read the page.').waitFor();
}

/** @param {import('./pictures-host.mjs').Scene} scene */
async function takeRules({ desk, take }) {
  await desk.getByRole('textbox', { name: 'Message' }).fill('/permissions');
  await desk.keyboard.press('Enter');
  const rules = [
    ['allow', 'shell(git diff *)', 'person'],
    ['allow', 'edit(src/**)', 'project'],
    ['ask', 'shell(npm publish)', 'project'],
    ['deny', 'shell(rm *)', 'person'],
    ['deny', 'web_fetch(nodejs.org:443)', 'session'],
  ];
  for (const [effect = '', rule = '', scope = ''] of rules) {
    await desk.getByRole('combobox', { name: 'Effect' }).selectOption(effect);
    await desk.getByRole('textbox', { name: 'Rule' }).fill(rule);
    await desk.getByRole('combobox', { name: 'Whose rule' }).selectOption(scope);
    await desk.getByRole('button', { name: 'Add', exact: true }).click();
    await desk.getByRole('button', { name: `Remove ${effect} ${rule}` }).waitFor();
  }
  await desk.getByRole('heading', { name: 'Permission rules' }).evaluate((heading) => heading.scrollIntoView());
  await take('permission-rules');
  await desk.keyboard.press('Escape');
}

/** A session in a worktree of its own, beside those in the folder. @param {import('./pictures-host.mjs').Scene} scene */
async function takeWorktree({ desk, take, begin, anew }) {
  await anew();
  await desk.getByRole('combobox', { name: 'Works in' }).selectOption('worktree');
  await begin('Write tests of sum().');
  const approve = desk.locator('[data-answer=approve]:not([disabled])').first();
  for (const action of [/Write|Create|sum\.test\.js/, /npm test/, /git add/]) {
    await desk.getByRole('group', { name: 'Permission' }).filter({ hasText: action }).waitFor();
    await approve.click();
  }
  await desk.getByText('Two tests pass, and are committed.').waitFor();
  await desk.getByRole('textbox', { name: 'Message' }).fill('/board');
  await desk.keyboard.press('Enter');
  const board = desk.getByRole('dialog', { name: /^Board of/ });
  await board.getByText('1 ahead').waitFor();
  await take('board-worktree');
  await desk.keyboard.press('Escape');
}

/** @param {import('./pictures-host.mjs').Scene} scene */
async function takeBudget({ desk, take, begin, anew, env }) {
  const setDay = (/** @type {object} */ limit) =>
    promisify(execFile)(
      process.execPath,
      [COMMAND, 'call', 'atrium/setBudget', JSON.stringify({ scope: 'day', ...limit })],
      { env },
    );
  await anew();
  await begin('Count the callers of sum().');
  await desk.getByText('There is one').waitFor();
  await setDay({ tokens: 20_000 });
  await desk.getByRole('textbox', { name: 'Message' }).fill('And of average()?');
  await desk.keyboard.press('Enter');
  await desk.getByText("Today's budget is used up").first().waitFor();
  await take('budget');
}
