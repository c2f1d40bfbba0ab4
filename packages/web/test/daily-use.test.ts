/** What a person meets every hour: their own message, how long it takes, what failed, what was changed. */
import type { Turn } from '@atrium/protocol/ahp-1';
import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { problemsOf } from './support/axe.js';
import { begin, describeInBrowser, PHONE, POLL, readAll } from './support/browser.js';
import { begun, puppetSession, said, startPuppetHost } from './support/puppet-host.js';
import { startWorkHost } from './support/work-host.js';

const LONG = Array.from({ length: 80 }, (_, index) => `Paragraph ${index + 1}.`).join('\n\n');

/** Whether a text can be seen in the part of the conversation that is on the screen. */
function isInSight(page: Page, text: string): Promise<boolean> {
  return page
    .locator('.bubble', { hasText: text })
    .last()
    .evaluate((bubble) => {
      const box = bubble.closest('.timeline')?.getBoundingClientRect();
      const { top, bottom } = bubble.getBoundingClientRect();
      return box !== undefined && top >= box.top && bottom <= box.bottom;
    })
    .catch(() => false);
}

async function scrollToTop(page: Page): Promise<void> {
  await page.locator('.timeline').evaluate((box) => box.scrollTo(0, 0));
  await page.getByRole('button', { name: 'To the end' }).waitFor();
}

describeInBrowser('what is said', (open) => {
  it('is in sight once it is sent, wherever the person was reading [DAY-114]', async () => {
    const { link } = await startWorkHost({ prompts: { long: [{ text: LONG }], next: [{ text: 'Yes.' }] } });
    const page = await open(link);
    await begin(page, 'long');
    await page.getByText('Paragraph 80.').waitFor();
    await scrollToTop(page);
    await page.getByRole('textbox', { name: 'Message' }).fill('next');
    await page.keyboard.press('Enter');
    await expect.poll(() => isInSight(page, 'next'), POLL).toBe(true);
    await page.getByText('Yes.', { exact: true }).waitFor();
    expect(await page.getByRole('button', { name: 'To the end' }).count()).toBe(0);
  });

  it('has one button for what can be done from an answer, on a touch screen', async () => {
    const { link } = await startWorkHost({ prompts: { hi: [{ text: 'Hello.' }] } });
    const page = await open(link, PHONE);
    await begin(page, 'hi');
    await page.getByText('Hello.', { exact: true }).waitFor();
    const fork = page.getByRole('button', { name: 'Fork from here' });
    const more = page.getByRole('button', { name: 'More from here' });
    await more.waitFor();
    expect(await fork.isVisible()).toBe(false);
    expect((await page.locator('.turn-end .row-actions').boundingBox())?.height).toBeLessThan(60);
    await more.tap();
    await fork.waitFor();
    expect(await problemsOf(page)).toEqual([]);
    await more.tap();
    await fork.waitFor({ state: 'hidden' });
  });

  it('that failed says one thing to do, not two', async () => {
    const message = 'The host stopped while this turn was running. Resume the turn to go on.';
    const { link } = await startWorkHost({ prompts: { go: [{ error: { errorType: 'interrupted', message } }] } });
    const page = await open(link);
    await begin(page, 'go');
    await page.getByText(message).waitFor();
    expect(await page.locator('.turn-error .hint').count()).toBe(0);
  });
});

const PLAN =
  '## Steps\n\n1. Read `app.ts`\n2. Change **one** line\n3. See [the page](https://a.example/b)\n\n```ts\nconst one = 1;\n```\n\n- [ ] run the tests\n';
/** Each says something to a model that a reader of the formatted text does not see. */
const SLY = [
  ['a comment', 'Read it.\n\n<!-- SECRET -->\n'],
  ['a title of a link', 'Read [the page](https://a.example "SECRET").'],
  ['a cell too many', '| a |\n|---|\n| 1 | SECRET |\n'],
  ['a definition', 'Read it.\n\n[x]: https://a.example "SECRET"\n'],
  ['a note in a diagram', '```mermaid\nflowchart LR\n  %% SECRET\n  A --> B\n```\n'],
] as const;
const present = (plan: string) => [{ callTool: { name: 'present_plan', input: { plan } } }, { text: 'Over.' }];

const modeOf = (page: Page) => page.locator('.composer').getByLabel('Mode', { exact: true });

async function inPlanMode(page: Page, message: string): Promise<void> {
  await begin(page, 'hello');
  await page.getByText('You said: hello').waitFor();
  await page.getByRole('textbox', { name: 'Message' }).fill(`/plan ${message}`);
  await page.getByRole('textbox', { name: 'Message' }).press('Enter');
}

describeInBrowser('a plan', (open) => {
  it.each([
    ['on the desk', undefined],
    ['on the phone', PHONE],
  ] as const)(
    'is shown as people read it, and accepted, edited or rejected as a plan, %s [DAY-115]',
    async (_, size) => {
      const { link } = await startWorkHost({ prompts: { plan: present(PLAN) } });
      const page = await open(link, size);
      await inPlanMode(page, 'plan');
      const call = page.locator('.tool-call.is-asking');
      await call.getByRole('heading', { name: 'Steps' }).waitFor();
      expect(await call.locator('ol > li').allInnerTexts()).toEqual([
        ...['Read app.ts', 'Change one line', 'See the page (https://a.example/b)'],
      ]);
      expect(await call.innerText()).not.toMatch(/present_plan|Edit input|Deny|\*\*one\*\*/);
      const accept = call.getByRole('button', { name: 'Accept, and ask before changes' });
      await readAll(page, accept);
      const answers = await call.getByRole('group', { name: 'Permission' }).getByRole('button').allInnerTexts();
      expect(answers.map((text) => text.trim())).toEqual([
        ...['Accept, and ask before changes', 'Accept, and edit without asking', 'Accept in auto mode', 'Reject'],
        ...['Edit the plan', 'Reject with advice'],
      ]);
      await call.getByRole('button', { name: 'As it is written' }).click();
      await call.getByText('2. Change **one** line').waitFor();
      expect(await problemsOf(page)).toEqual([]);
      await call.getByRole('button', { name: 'Edit the plan' }).click();
      await call.getByRole('textbox', { name: 'plan' }).fill('Do **nothing**.');
      await readAll(page, call.getByRole('button', { name: 'Accept, and ask before changes' }));
      await call.getByRole('button', { name: 'Accept, and ask before changes' }).click();
      await page.getByText('Over.').waitFor();
      await expect.poll(() => modeOf(page).inputValue(), POLL).toBe('ask');
      // What was accepted is what stands in the conversation.
      await page.locator('.tool-call .tool-head').click();
      await page.locator('.plan-text strong').getByText('nothing').waitFor();
    },
  );

  it.each(SLY)('is shown as it is written where formatting would hide some of it: %s [DAY-115]', async (_, plan) => {
    const { link } = await startWorkHost({ prompts: { sly: present(plan) } });
    const page = await open(link);
    await inPlanMode(page, 'sly');
    const call = page.locator('.tool-call.is-asking');
    await call.getByText('Shown as plain text').waitFor();
    await call.getByText('SECRET').waitFor();
  });
});

describeInBrowser('a list of tasks', (open) => {
  it('is one line once all is done, and gone when the next turn starts [DAY-116]', async () => {
    const items = ['[x] Read the code', '[x] Run the tests'];
    const { link } = await startWorkHost({
      prompts: { work: [{ callTool: { name: 'todo_list', input: { items } } }, { text: 'Worked.' }] },
    });
    const page = await open(link);
    await begin(page, 'work');
    await page.getByText('Worked.').waitFor();
    expect(await page.locator('.session-item .detail').first().textContent()).not.toContain('of 2');
    const field = page.getByRole('textbox', { name: 'Message' });
    await field.fill('/cost');
    await field.press('Enter');
    const panel = page.getByRole('complementary', { name: 'Details' });
    const fold = panel.locator('summary', { hasText: 'To-dos: 2 of 2 done' });
    await fold.waitFor();
    expect(await panel.getByText('Run the tests').isVisible()).toBe(false);
    await fold.click();
    await panel.getByText('Run the tests').waitFor();
    await field.fill('next');
    await field.press('Enter');
    await page.getByText('You said: next').waitFor();
    await fold.waitFor({ state: 'detached' });
  });
});

describeInBrowser('the end of a turn', (open) => {
  it('leads to changes only where there are any [DAY-117]', async () => {
    const input = { path: 'a.txt', content: 'a\n' };
    const { link } = await startWorkHost({
      files: { 'b.txt': 'b\n' },
      prompts: {
        look: [{ callTool: { name: 'list_files', input: {} } }, { text: 'Looked.' }],
        write: [{ callTool: { name: 'write_file', input } }, { text: 'Wrote.' }],
      },
    });
    const page = await open(link);
    await begin(page, 'look');
    await page.getByText('Looked.').waitFor();
    await modeOf(page).selectOption('accept-edits');
    const field = page.getByRole('textbox', { name: 'Message' });
    await field.fill('write');
    await field.press('Enter');
    await page.getByText('Wrote.').waitFor();
    const ends = page.locator('.turn-end');
    await ends.nth(1).getByRole('button', { name: 'Changes' }).waitFor();
    expect(await ends.nth(0).getByRole('button', { name: 'Changes' }).count()).toBe(0);
  });

  it('says once what failed, with one way on [DAY-117]', async () => {
    const message = 'Claude accepts no more requests for now. Wait a little, then try again.';
    const failed = (id: string, resumable: boolean): Turn => ({
      id,
      message: said(id),
      responseParts: [{ kind: 'error', error: { errorType: 'rate-limited', message }, resumable }],
      state: 'error',
    });
    const { link } = await startPuppetHost({
      session: puppetSession({}, { turns: [failed('a', true), failed('b', true)] }),
    });
    const page = await open(link);
    const errors = page.getByRole('alert').filter({ hasText: 'This turn failed.' });
    await errors.nth(1).waitFor();
    expect(await errors.nth(1).innerText()).toMatch(
      /^This turn failed\. Claude accepts no more[^\n]*try again\.\s+Resume$/,
    );
    expect(await errors.nth(1).getByRole('button').getAttribute('title')).toContain('Continues where it was cut off');
    // Only the last turn can go on.
    expect(await errors.nth(0).getByRole('button').allInnerTexts()).toEqual(['Try again']);
    expect(await errors.nth(0).getByRole('button').getAttribute('title')).toContain('same message');
  });
});

describeInBrowser('a running turn', (open) => {
  it('says how long it has taken, and stands still while nobody looks [DAY-118]', async () => {
    const startedAt = new Date(Date.now() - 3_723_000).toISOString();
    const session = puppetSession({}, { activeTurn: { ...begun([]), startedAt }, status: 8 });
    const { link } = await startPuppetHost({ session });
    const page = await open(link);
    await page.clock.install();
    await page.reload();
    const words = page.locator('p.working');
    const passed = async () => {
      const [, hours, minutes, seconds] =
        /^Working · (\d+):(\d\d):(\d\d)$/.exec((await words.innerText()).trim()) ?? [];
      return Number(hours) * 3_600 + Number(minutes) * 60 + Number(seconds);
    };
    await words.getByText('1:02').waitFor();
    const before = await passed();
    expect(before).toBeGreaterThanOrEqual(3_723);
    await page.clock.runFor(20_000);
    const after = await passed();
    expect(after).toBeGreaterThanOrEqual(before + 20);
    const see = (state: 'hidden' | 'visible') =>
      page.evaluate((value) => {
        Object.defineProperty(document, 'visibilityState', { configurable: true, get: () => value });
        document.dispatchEvent(new Event('visibilitychange'));
      }, state);
    await see('hidden');
    const left = await passed();
    await page.clock.runFor(20_000);
    expect(await passed()).toBe(left);
    await see('visible');
    expect(await passed()).toBeGreaterThanOrEqual(left + 20);
  });
});

describeInBrowser('small things', (open) => {
  it('a task in an answer has a box and no bullet, and the search says what it is [DAY-119]', async () => {
    const { link } = await startWorkHost({ prompts: { tasks: [{ text: '- [x] read\n- [ ] run\n\n- plain\n' }] } });
    const page = await open(link);
    await begin(page, 'tasks');
    const tasks = page.locator('.prose li[data-task]');
    await expect.poll(() => tasks.allInnerTexts(), POLL).toEqual(['☑ read', '☐ run']);
    expect(await tasks.first().evaluate((item) => getComputedStyle(item).listStyleType)).toBe('none');
    const room = await page.getByRole('searchbox', { name: 'Search sessions' }).evaluate((field: HTMLInputElement) => {
      const { font, paddingLeft, paddingRight } = getComputedStyle(field);
      const pen = document.createElement('canvas').getContext('2d');
      if (pen) pen.font = font;
      const words = pen?.measureText(field.placeholder).width ?? Number.POSITIVE_INFINITY;
      return field.clientWidth - Number.parseFloat(paddingLeft) - Number.parseFloat(paddingRight) - words;
    });
    expect(room).toBeGreaterThanOrEqual(0);
  });

  it('a question is shown from its beginning, and a short text is not cut off by its box [DAY-122]', async () => {
    const content = `${Array.from({ length: 7 }, (_, index) => `test('number ${index}', () => assert.equal(median([${index}, 1, 2]), 2));`).join('\n')}\n`;
    const { link } = await startWorkHost({
      prompts: { write: [{ callTool: { name: 'write_file', input: { path: 'median.test.js', content } } }] },
    });
    const page = await open(link, { ...PHONE, viewport: { width: 390, height: 844 } });
    await begin(page, 'write');
    const card = page.locator('.tool-call.is-asking');
    const box = card.locator('.read-text');
    await box.waitFor();
    const above = () =>
      card.evaluate((element) => {
        const list = element.closest('.timeline')?.getBoundingClientRect().top ?? 0;
        return element.getBoundingClientRect().top - list;
      });
    await expect.poll(above, POLL).toBeGreaterThanOrEqual(0);
    expect(await box.evaluate((element) => element.scrollHeight - element.clientHeight)).toBeLessThanOrEqual(0);
    const allow = card.getByRole('button', { name: 'Allow', exact: true });
    await page.locator('.timeline').evaluate((list) => list.scrollTo(0, list.scrollHeight));
    await expect.poll(() => allow.isEnabled(), POLL).toBe(true);
  });

  it('Alt+Y says why it cannot allow yet, and leads to what is to be read; a denied call says who said no [DAY-119]', async () => {
    const command = Array.from({ length: 200 }, (_, index) => `echo ${index}`).join('\n');
    const { link } = await startWorkHost({
      prompts: { run: [{ callTool: { name: 'shell', input: { command } } }, { text: 'Over.' }] },
    });
    const page = await open(link);
    await begin(page, 'run');
    const box = page.locator('.tool-call.is-asking .read-text');
    await box.waitFor();
    const pressed = async () => {
      await page.keyboard.press('Alt+y');
      return box.evaluate((element) => element === document.activeElement);
    };
    await expect.poll(pressed, POLL).toBe(true);
    await page.locator('.notices').getByText('Read it to the end, then you can allow it.').first().waitFor();
    await page.keyboard.press('Alt+n');
    await page.getByText('Over.').waitFor();
    await page.locator('.tool-denial').getByText('Denied by a person').waitFor();
  });
});
