/** What axe finds in the main states of the page; and the keyboard. */
import { expect, it } from 'vitest';
import { problemsOf } from './support/axe.js';
import { begin, DESKTOP, describeInBrowser, PHONE } from './support/browser.js';
import { startPageHost } from './support/page-host.js';

const PROMPTS = {
  task: [
    { title: 'A task' },
    { reasoning: 'Thinking.' },
    { text: '# Plan\n\n- one\n- `two`\n\n```ts\nconst a = 1; // one\n```\n\n| a | b |\n|---|---|\n| 1 | 2 |' },
    { callTool: { name: 'write_file', input: { path: 'new.txt', content: 'hello\n' } } },
    {
      ask: {
        message: 'Well?',
        questions: [
          { kind: 'single-select' as const, id: 'a', message: 'One?', options: [{ id: 'x', label: 'X' }] },
          { kind: 'text' as const, id: 'b', message: 'Words?' },
          { kind: 'boolean' as const, id: 'c', message: 'Sure?' },
        ],
      },
    },
    { error: { errorType: 'rate-limited', message: 'Too much.' } },
  ],
};

describeInBrowser('accessibility', (open) => {
  it.each([
    ['light', 'on the desktop', DESKTOP],
    ['dark', 'on the desktop', DESKTOP],
    ['light', 'on the phone', PHONE],
  ] as const)('axe finds nothing: %s, %s [DAY-111]', async (colorScheme, _where, size) => {
    const { link, url } = await startPageHost(PROMPTS);
    const page = await open(url, { ...size, colorScheme });
    await page.getByLabel('Token, link, or the eight digits').waitFor();
    expect(await problemsOf(page)).toEqual([]);
    await page.goto(link);
    await page.getByRole('heading', { name: 'What should we work on?' }).waitFor();
    expect(await problemsOf(page)).toEqual([]);
    await begin(page, 'task');
    await page.getByRole('group', { name: 'Permission' }).waitFor();
    expect(await problemsOf(page)).toEqual([]);
    await page.locator('[data-answer=approve]:enabled').first().waitFor();
    await page.keyboard.press('Alt+y');
    await page.getByRole('form', { name: 'Question' }).waitFor();
    expect(await problemsOf(page)).toEqual([]);
    await page.getByRole('button', { name: 'Answer' }).click();
    await page.getByText('This turn failed.').waitFor();
    await page.getByRole('button', { name: 'Details', exact: true }).click();
    expect(await problemsOf(page)).toEqual([]);
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox', { name: /Find/ }).waitFor();
    expect(await problemsOf(page)).toEqual([]);
  });

  it('text has enough contrast in every theme, in the main views [DAY-111]', async () => {
    const { link } = await startPageHost(PROMPTS);
    const page = await open(link);
    await begin(page, 'task');
    await page.getByRole('group', { name: 'Permission' }).waitFor();
    const themes = ['contrast', 'sand', 'midnight'].flatMap((theme) =>
      (theme === 'contrast' ? (['light', 'dark'] as const) : (['light'] as const)).map((scheme) => ({ theme, scheme })),
    );
    const look = async (view: string) => {
      for (const { theme, scheme } of themes) {
        await page.emulateMedia({ colorScheme: scheme });
        await page.evaluate((name) => document.documentElement.setAttribute('data-theme', name), theme);
        expect({ view, theme, scheme, problems: await problemsOf(page, ['color-contrast']) }).toMatchObject({
          problems: [],
        });
      }
    };
    await look('permission');
    await page.keyboard.press('Control+,');
    await page.getByRole('heading', { name: 'Settings' }).waitFor();
    expect(await problemsOf(page)).toEqual([]);
    await look('settings');
  });

  it('moves nothing for those who do not want it, and is usable at twice the size [DAY-111]', async () => {
    const { link } = await startPageHost(PROMPTS);
    // Twice the size is half the room.
    const page = await open(link, { viewport: { width: 640, height: 400 } });
    await begin(page, 'hi');
    await page.getByText('You said: hi').waitFor();
    const facts = await page.evaluate(() => ({
      isWider: document.documentElement.scrollWidth > innerWidth,
      moving: document.getAnimations().filter(({ playState }) => playState === 'running').length,
    }));
    expect(facts).toEqual({ isWider: false, moving: 0 });
    expect(await problemsOf(page)).toEqual([]);
  });

  it('goes everywhere by keyboard [DAY-111]', async () => {
    const { link } = await startPageHost(PROMPTS);
    const page = await open(link);
    const writesIn = (id: string) => page.waitForFunction((name) => document.activeElement?.id === name, id);
    await writesIn('home-message');
    await page.keyboard.press('Control+/');
    await page.getByRole('heading', { name: 'Keyboard and commands' }).waitFor();
    await page.keyboard.press('Escape');
    await page.keyboard.type('hi');
    await page.keyboard.press('Enter');
    await page.getByText('You said: hi').waitFor();
    await writesIn('composer');
    await page.keyboard.press('Escape');
    await page.keyboard.press('?');
    await page.getByRole('heading', { name: 'Keyboard and commands' }).waitFor();
    await page.keyboard.press('Escape');
    await page.keyboard.press('n');
    await writesIn('home-message');
    await page.keyboard.type('ho');
    await page.keyboard.press('Enter');
    await page.getByText('You said: ho').waitFor();
    await page.keyboard.press('Escape');
    await page.keyboard.press('j');
    await page.getByText('You said: hi').waitFor();
    await page.keyboard.press('k');
    await page.getByText('You said: ho').waitFor();
    await page.keyboard.press('c');
    await writesIn('composer');
    await page.keyboard.press('Alt+ArrowDown');
    await page.getByText('You said: hi').waitFor();
    await page.keyboard.press('Control+k');
    await page.keyboard.type('dark theme');
    await page.keyboard.press('Enter');
    expect(await page.evaluate(() => document.documentElement.dataset.theme)).toBe('dark');
  });
});
