/** The pictures of what a day's work needs: rules, plans, search, going back, boards, money. `screenshots.mjs` takes them with the others. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import path from 'node:path';
import { anew } from './pictures-host.mjs';

const PLAN = `# An average

1. Add \`average\` to \`sum.js\`, with the sum that is there
2. An empty list has none: return \`undefined\`
3. Test both

- [ ] nothing else changes`;

const READING = `The error of the estimate is $\\sigma / \\sqrt{n}$, so that

$$\\bar{x} = \\frac{1}{n} \\sum_{i=1}^{n} x_i$$

\`\`\`mermaid
graph LR
  A[read] --> B{empty?}
  B -->|no| C[average]
  B -->|yes| D[nothing]
\`\`\`

| values | average |
|:--|--:|
| 1, 2, 3 | 2 |
| none | –[^1] |

[^1]: There is no average of nothing.`;

const todo = (/** @type {string[]} */ ...items) => ({ callTool: { name: 'todo_list', input: { items } } });

/** What the scripted agent plays. @type {Record<string, object[]>} */
export const DAILY_PROMPTS = {
  'What changed since yesterday?': [
    { title: 'Changes since yesterday' },
    { callTool: { name: 'shell', input: { command: 'git log --since=yesterday --stat' } } },
    { text: 'Nothing yet.' },
  ],
  'Plan an average.': [
    { title: 'An average' },
    { text: 'I have read `sum.js`.' },
    { callTool: { name: 'present_plan', input: { plan: PLAN } } },
  ],
  'Add the average.': [
    { title: 'Average and its tests' },
    todo('[x] Read sum.js', '[>] Write average()', 'Test an empty list', 'Test three values'),
    { text: 'The sum is there; the average divides it.' },
    {
      callTool: {
        name: 'write_file',
        input: {
          path: 'average.js',
          content:
            "import { sum } from './sum.js';\n\nexport const average = (values) => sum(values) / values.length;\n",
        },
      },
    },
    { text: 'Written.' },
    todo('[x] Read sum.js', '[x] Write average()', '[x] Test an empty list', '[x] Test three values'),
    { usage: { inputTokens: 9_120, outputTokens: 740, model: 'demo-small' } },
  ],
  'Explain the average.': [{ title: 'What an average is' }, { text: READING }],
};

/** A session of another program, which can be brought in, and a model that answers in one sentence. @param {string} folder @param {string} project */
export async function prepareDaily(folder, project) {
  const sessions = path.join(folder, '.claude', 'projects', 'calculator');
  mkdirSync(sessions, { recursive: true });
  const id = '6f9d3c52-5a0e-4d0b-9c7e-2f6a1b3c4d5e';
  const said = { sessionId: id, cwd: project, timestamp: '2026-03-01T10:00:00.000Z' };
  const user = { ...said, type: 'user', uuid: 'u', parentUuid: null };
  const message = { role: 'user', content: 'Why does sum() return the last value?' };
  const answer = { id: 'm', role: 'assistant', model: 'claude', content: [{ type: 'text', text: 'It overwrites.' }] };
  const lines = [
    { ...user, message },
    { ...said, type: 'assistant', uuid: 'a', parentUuid: 'u', message: answer },
  ];
  writeFileSync(path.join(sessions, `${id}.jsonl`), lines.map((line) => JSON.stringify(line)).join('\n'));
  const model = await startModel();
  const models = [{ id: 'house-large', reasoningEfforts: ['low', 'medium', 'high'], temperature: true }];
  const agents = { house: { type: 'model', api: 'openai-compatible', baseURL: model.url, models } };
  mkdirSync(path.join(folder, '.config', 'atrium'), { recursive: true });
  writeFileSync(path.join(folder, '.config', 'atrium', 'config.json'), JSON.stringify({ agents, titles: false }));
  return model;
}

/** Chat completions, on this machine only. */
async function startModel() {
  const server = createServer((request, response) => {
    request.resume().on('end', () => {
      const event = (/** @type {object} */ more) =>
        response.write(
          `data: ${JSON.stringify({ id: '1', object: 'chat.completion.chunk', model: 'm', ...more })}\n\n`,
        );
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      const content =
        '`sum()` added wrongly and is mended; `average()` divides its sum. Tests of an empty list are missing.';
      event({ choices: [{ index: 0, delta: { role: 'assistant', content } }] });
      event({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] });
      event({ choices: [], usage: { prompt_tokens: 5_200, completion_tokens: 40, total_tokens: 5_240 } });
      response.end('data: [DONE]\n\n');
    });
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(undefined)));
  const address = /** @type {import('node:net').AddressInfo} */ (server.address());
  return { url: `http://127.0.0.1:${address.port}/v1`, stop: () => void server.close() };
}

/**
 * @typedef {{
 *   desk: import('playwright-core').Page,
 *   picture: string,
 *   take: (page: import('playwright-core').Page, name: string) => Promise<void>,
 *   begin: (page: import('playwright-core').Page, text: string) => Promise<void>,
 * }} Camera
 */

/** @param {Camera} camera */
export async function takeDaily(camera) {
  await takeRules(camera);
  await takePlan(camera);
  await takeWork(camera);
  await takeReading(camera);
  await takeCompaction(camera);
  await takeBoard(camera);
  await takeDialogs(camera);
}

/** @param {Camera} camera */
async function takeRules({ desk, take, begin }) {
  await anew(desk);
  await begin(desk, 'What changed since yesterday?');
  await desk.getByRole('button', { name: 'Always allow …' }).click();
  await take(desk, 'always-allow');
  await desk.getByRole('button', { name: /^Always allow .* in this session/ }).click();
  await desk.getByText('Nothing yet.').waitFor();
}

/** @param {Camera} camera */
async function takePlan({ desk, take, begin }) {
  await anew(desk);
  const mode = desk.getByLabel('Mode', { exact: true });
  await mode.selectOption('plan');
  await begin(desk, 'Plan an average.');
  await desk.getByRole('button', { name: 'Edit the plan' }).waitFor();
  await take(desk, 'plan');
  await desk.getByRole('button', { name: 'Reject', exact: true }).click();
}

/** The list of tasks, then what rewinding would do. @param {Camera} camera */
async function takeWork({ desk, take, begin }) {
  await anew(desk);
  await desk.getByLabel('Mode', { exact: true }).selectOption('ask');
  await begin(desk, 'Add the average.');
  await desk.locator('[data-answer=approve]').first().waitFor();
  const tab = desk.getByRole('tab', { name: 'Details' });
  if (!(await tab.isVisible())) await desk.getByRole('button', { name: 'Details', exact: true }).click();
  await tab.click();
  await take(desk, 'todos');
  await desk.locator('[data-answer=approve]').first().click();
  await desk.getByText('Written.').waitFor();
  await desk.getByRole('textbox', { name: 'Message' }).fill('/undo');
  await desk.keyboard.press('Enter');
  await desk.getByRole('dialog').getByText('would change').waitFor();
  await take(desk, 'rewind');
  await desk.keyboard.press('Escape');
  await desk.getByRole('button', { name: 'Hide details' }).click();
}

/** @param {Camera} camera */
async function takeReading({ desk, picture, take, begin }) {
  await anew(desk);
  await begin(desk, 'Explain the average.');
  await desk.getByText('There is no average of nothing.').waitFor();
  await desk.waitForTimeout(2_000);
  await take(desk, 'reading');
  const field = desk.getByRole('textbox', { name: 'Message' });
  await desk.locator('input[type=file]').first().setInputFiles(picture);
  await desk.getByRole('button', { name: /Remove home\.png/ }).waitFor();
  await field.fill('Why is the field so far from its label here?');
  await take(desk, 'attachment');
  await desk.getByRole('button', { name: /Remove home\.png/ }).click();
  await field.fill('/');
  await desk.getByText('/help').first().waitFor();
  await take(desk, 'commands');
  await field.fill('');
}

/** @param {Camera} camera */
async function takeCompaction({ desk, take, begin }) {
  await anew(desk);
  await desk.getByLabel('Agent', { exact: true }).selectOption('house');
  await begin(desk, 'What did we do to sum()?');
  const field = desk.getByRole('textbox', { name: 'Message' });
  await desk.getByText('Tests of an empty list are missing.').first().waitFor();
  for (const text of ['And what is left?', 'What comes first?', '/compact keep the names of the files']) {
    await desk.getByRole('button', { name: 'Send', exact: true }).waitFor();
    await field.fill(text);
    await desk.keyboard.press('Enter');
    await desk.waitForTimeout(1_000);
  }
  await desk.getByText(/Summed up/).click();
  await take(desk, 'compaction');
}

/** @param {Camera} camera */
async function takeBoard({ desk, take }) {
  await desk.getByRole('button', { name: 'Board of calculator' }).click();
  await desk.getByRole('dialog', { name: 'Board of calculator' }).locator('.board-card').first().waitFor();
  await take(desk, 'board');
  await desk.keyboard.press('Escape');
}

/** @param {Camera} camera */
async function takeDialogs({ desk, take }) {
  await desk.keyboard.press('Control+Shift+F');
  await desk.locator('dialog[open] input').fill('average');
  await desk.getByText('the newest first').waitFor();
  await take(desk, 'search');
  await desk.keyboard.press('Escape');
  await desk.getByRole('button', { name: 'Usage and cost' }).click();
  await desk.getByRole('dialog', { name: 'Usage' }).locator('table').waitFor();
  await take(desk, 'usage');
  await desk.keyboard.press('Escape');
  await desk.getByRole('button', { name: 'Settings' }).click();
  await desk.getByRole('dialog', { name: 'Settings' }).waitFor();
  await take(desk, 'settings');
  await desk.keyboard.press('Escape');
  await anew(desk);
  await desk.getByText('Bring sessions from').click();
  await desk.getByRole('dialog').getByText('Why does sum() return').waitFor();
  await take(desk, 'import');
  await desk.keyboard.press('Escape');
}
