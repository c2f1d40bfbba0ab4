/** Comments on changed lines: written beside the change, and sent along with the next message. */
import { expect, it } from 'vitest';
import { problemsOf } from './support/axe.js';
import { begin, choose, describeInBrowser, PHONE, POLL } from './support/browser.js';
import { openTab, startWorkHost } from './support/work-host.js';

const PROMPTS = {
  write: [
    { title: 'Write' },
    { callTool: { name: 'write_file', input: { path: 'sum.js', content: 'let a = 1;\nlet b = 2;\n' } } },
    { text: 'Written.' },
  ],
};

describeInBrowser('a comment on a changed line', (open) => {
  it('[UP-145] is there on every device, goes along with the next message once, and can be taken back before', async () => {
    const { link } = await startWorkHost({ prompts: PROMPTS, files: { 'sum.js': 'let a = 1;\n' } });
    const page = await open(link);
    await begin(page, 'write');
    await page.getByRole('button', { name: 'Allow', exact: true }).click();
    await page.getByText('Written.').waitFor();
    await openTab(page, 'Changes');
    await page.getByRole('button', { name: /Changed sum\.js/ }).click();
    await page.locator('.change-body .line.added').click();
    const form = page.getByRole('form', { name: 'Comment' });
    expect(await form.getByRole('spinbutton', { name: 'Line' }).inputValue()).toBe('2');
    await page.keyboard.type('Call it sum');
    await page.keyboard.press('Enter');
    const comments = page.getByRole('list', { name: 'Comments' }).getByRole('listitem');
    await comments.getByText('Call it sum').waitFor();
    await page.getByRole('button', { name: 'Comment on sum.js' }).press('Enter');
    await page.keyboard.type('Never mind');
    await page.keyboard.press('Enter');
    await page.getByText('2 comments on files go along').waitFor();
    expect(await problemsOf(page)).toEqual([]);

    const phone = await open(link, PHONE);
    await choose(phone, /Write/);
    await phone.getByText('2 comments on files go along').waitFor();
    await comments.filter({ hasText: 'Never mind' }).getByRole('button', { name: 'Remove the comment' }).click();
    await phone.getByText('1 comment on files goes along').waitFor();
    const field = phone.getByRole('textbox', { name: 'Message' });
    await field.fill('please');
    await phone.getByRole('button', { name: 'Send', exact: true }).click();
    await page.locator('.user-message .chips').getByText('1 comment').waitFor();
    await comments.getByText('sent', { exact: true }).waitFor();
    await expect.poll(() => page.getByText('go along').count(), POLL).toBe(0);
    await page.getByText('You said: please').waitFor();
    await field.fill('again');
    await phone.getByRole('button', { name: 'Send', exact: true }).click();
    await page.getByText('You said: again').waitFor();
    expect(await page.locator('.user-message .chips').count()).toBe(1);
  });
});
