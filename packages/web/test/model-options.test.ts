/** What a person chooses for a model, beside the model, and what its server then gets. */
import { expect, it, onTestFinished } from 'vitest';
import { modelAgent } from '../../agents/src/model/backend.js';
import { ModelServer } from '../../host/test/support/model-server.js';
import { begin, describeInBrowser, POLL } from './support/browser.js';
import { startWorkHost } from './support/work-host.js';

describeInBrowser('the options of a model', (open) => {
  it('[DAY-083] are those of its schema, go with the messages that follow, and can be taken back', async () => {
    const answers = ['First answer.', 'Second answer.', 'Third answer.', 'Fourth answer.'].map((text) => ({
      text: [text],
    }));
    const server = await ModelServer.start(...answers);
    onTestFinished(() => server.stop());
    const models = [
      { id: 'm-1', name: 'Thinker', reasoningEfforts: ['low', 'high'], hasTemperature: true },
      { id: 'm-2', name: 'Talker' },
    ];
    const options = { provider: 'model', displayName: 'Model', kind: 'openai-compatible', models, retries: 0 } as const;
    const { link } = await startWorkHost({ agents: [modelAgent({ ...options, baseURL: server.url })] });
    const page = await open(link);
    const say = async (text: string, answer: string) => {
      await page.getByRole('textbox', { name: 'Message' }).fill(text);
      await page.getByRole('button', { name: 'Send', exact: true }).click();
      await page.getByText(answer).waitFor();
    };
    const effort = page.getByRole('combobox', { name: 'Reasoning effort' });
    await begin(page, 'begin');
    await page.getByText('First answer.').waitFor();
    await effort.selectOption('high');
    await page.getByRole('spinbutton', { name: 'Temperature' }).fill('0.5');
    await say('think', 'Second answer.');
    await effort.selectOption('');
    await say('less', 'Third answer.');
    await page.getByRole('combobox', { name: 'Model' }).selectOption('Talker');
    await expect.poll(() => effort.count(), POLL).toBe(0);
    await say('talk', 'Fourth answer.');
    const sent = server.requests.map(({ body }) => [body.model, body.reasoning_effort, body.temperature]);
    expect(sent).toEqual([
      ['m-1', undefined, undefined],
      ['m-1', 'high', 0.5],
      ['m-1', undefined, 0.5],
      ['m-2', undefined, undefined],
    ]);
  });
});
