/** Pictures and files in the page: paste, drop, picker; kept with the draft, shown everywhere, and nothing else is shown as one. */
import { MemoryLog } from '@atrium/host';
import { PICTURE_SCALED_EDGE } from '@atrium/protocol/ahp-1';
import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { problemsOf } from './support/axe.js';
import { begin, choose, describeInBrowser, PHONE, POLL } from './support/browser.js';
import { startPageHost } from './support/page-host.js';

const PIXEL = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);
const PROMPTS = { hello: [{ title: 'Hello' }, { text: 'You said: hello' }] };

const attached = (page: Page) =>
  page.locator('.composer').getByRole('list', { name: 'Attachments' }).getByRole('listitem');
const drawn = (page: Page, place: string) =>
  page
    .locator(`${place} .picture img`)
    .evaluateAll((images) => images.map((image) => (image as HTMLImageElement).naturalWidth));

interface Given {
  readonly name: string;
  readonly type: string;
  readonly base64: string;
}

/** Files as the browser hands them over when a person pastes or drops them. */
function give(page: Page, how: 'paste' | 'drop', files: readonly Given[]): Promise<void> {
  return page.evaluate(
    ([event, given]) => {
      const data = new DataTransfer();
      for (const { name, type, base64 } of given) {
        const bytes = Uint8Array.from(atob(base64), (one) => one.charCodeAt(0));
        data.items.add(new File([bytes], name, { type }));
      }
      const init = { bubbles: true, cancelable: true };
      const field = document.querySelector('#composer') as HTMLElement;
      if (event === 'paste') field.dispatchEvent(new ClipboardEvent('paste', { ...init, clipboardData: data }));
      else document.body.dispatchEvent(new DragEvent('drop', { ...init, dataTransfer: data }));
    },
    [how, files] as const,
  );
}

const picture = (name: string): Given => ({ name, type: 'image/png', base64: PIXEL.toString('base64') });
const text = (name: string, content: string, type = 'text/plain'): Given => {
  return { name, type, base64: Buffer.from(content).toString('base64') };
};

describeInBrowser('pictures and files', (open) => {
  it('come by paste, drop and picker, outlive a reload, go out again, and are seen by a second client [DAY-010]', async () => {
    const { link } = await startPageHost(PROMPTS, new MemoryLog(), { storesContents: true, sees: true });
    const desk = await open(link);
    await begin(desk, 'hello');
    await desk.getByText('You said: hello').waitFor();
    await give(desk, 'paste', [picture('pasted.png')]);
    await expect.poll(() => attached(desk).count(), POLL).toBe(1);
    await give(desk, 'drop', [text('notes.txt', 'one\ntwo'), picture('dropped.png')]);
    await desk
      .locator('input[data-attach="attach"]')
      .setInputFiles({ name: 'picked.png', mimeType: 'image/png', buffer: PIXEL });
    await expect.poll(() => attached(desk).count(), POLL).toBe(4);
    await expect.poll(() => drawn(desk, '.composer'), POLL).toEqual([1, 1, 1]);
    expect(await problemsOf(desk)).toEqual([]);

    await desk.reload();
    await expect.poll(() => attached(desk).count(), POLL).toBe(4);
    const phone = await open(link, PHONE);
    await choose(phone, /Hello/);
    await expect.poll(() => attached(phone).count(), POLL).toBe(4);
    expect(await phone.locator('input[data-attach="camera"]').getAttribute('capture')).toBe('environment');
    await phone.getByRole('button', { name: 'Remove dropped.png' }).click();
    await expect.poll(() => attached(desk).count(), POLL).toBe(3);

    // A message may be nothing but a picture.
    await desk.getByRole('button', { name: 'Send', exact: true }).click();
    await expect.poll(() => drawn(phone, '.user-message'), POLL).toEqual([1, 1]);
    await phone.locator('.user-message').getByText('notes.txt').waitFor();
    await expect.poll(() => attached(phone).count(), POLL).toBe(0);
    await phone.getByRole('button', { name: 'Show pasted.png, 1 × 1' }).click();
    await phone.getByRole('dialog').getByRole('img', { name: 'pasted.png' }).waitFor();
  });

  it('are not lost when one comes before the page has drawn that the one before it is stored [DAY-010]', async () => {
    const { link } = await startPageHost(PROMPTS, new MemoryLog(), { storesContents: true, sees: true });
    const page = await open(link);
    await begin(page, 'hello');
    await page.getByText('You said: hello').waitFor();
    await page.evaluate(() => {
      window.requestAnimationFrame = (draw) => window.setTimeout(() => draw(performance.now()), 1_000);
    });
    const names = ['one.png', 'two.png', 'three.png'];
    for (const name of names) {
      await give(page, 'paste', [picture(name)]);
      await page.waitForTimeout(250);
    }
    await expect.poll(() => attached(page).allTextContents(), POLL).toHaveLength(names.length);
    for (const name of names) await page.getByRole('button', { name: `Remove ${name}` }).waitFor();
  });

  it('are what their bytes are: nothing that only is called a picture is shown as one [DAY-011]', async () => {
    const { link } = await startPageHost(PROMPTS, new MemoryLog(), { storesContents: true, sees: true });
    const page = await open(link);
    await begin(page, 'hello');
    await page.getByText('You said: hello').waitFor();
    const script =
      '<svg xmlns="http://www.w3.org/2000/svg" onload="window.hacked=1"><script>window.hacked=1</script></svg>';
    const bomb = Buffer.from(PIXEL);
    bomb.writeUInt32BE(50_000, 16);
    bomb.writeUInt32BE(50_000, 20);
    await give(page, 'drop', [
      text('a.png', script, 'image/png'),
      text('b.svg', script, 'image/svg+xml'),
      text('c.html', '<script>window.hacked=1</script>', 'text/html'),
      { name: 'bomb.png', type: 'image/png', base64: bomb.toString('base64') },
    ]);
    await expect.poll(() => attached(page).count(), POLL).toBe(4);
    const notes = page.locator('.attach-notes');
    await notes.getByText('a.png is called a picture, but it is text/plain').waitFor();
    await notes.getByText('bomb.png is attached, but no model sees it: it has 50000 × 50000 pixels').waitFor();
    await page.getByRole('button', { name: 'Send', exact: true }).click();
    await page.locator('.user-message .file-chip').getByText('bomb.png').waitFor();
    expect(await drawn(page, 'body')).toEqual([]);
    expect(await page.evaluate('window.hacked')).toBeUndefined();
    const heic = Buffer.concat([Buffer.from('\0\0\0\x18ftypheic', 'latin1'), Buffer.alloc(30)]).toString('base64');
    await give(page, 'paste', [{ name: 'photo.heic', type: 'image/heic', base64: heic }]);
    await notes.getByText('photo.heic is HEIC, which this browser cannot convert.').waitFor();
    expect(await attached(page).count()).toBe(0);
  });

  it('are made smaller where they are larger than models see, and no more are taken than a message has [DAY-010] [DAY-011]', async () => {
    const { link } = await startPageHost(PROMPTS, new MemoryLog(), { storesContents: true, sees: false });
    const page = await open(link);
    await begin(page, 'hello');
    await page.getByText('You said: hello').waitFor();
    const large = await page.evaluate(async () => {
      const canvas = Object.assign(document.createElement('canvas'), { width: 3_000, height: 1_500 });
      canvas.getContext('2d')?.fillRect(0, 0, 3_000, 700);
      return canvas.toDataURL('image/png').split(',')[1] ?? '';
    });
    await give(page, 'paste', [{ name: 'large.png', type: 'image/png', base64: large }]);
    await page.getByRole('button', { name: `Show large.png, ${PICTURE_SCALED_EDGE} × 1000` }).waitFor();
    await page.getByText('Mock one cannot see pictures: it is only told that there are some.').waitFor();
    await page.getByRole('combobox', { name: 'Model' }).selectOption('Mock two');
    await page.getByText('It is not known whether Mock two sees pictures').waitFor();
    await give(
      page,
      'drop',
      Array.from({ length: 25 }, (_, index) => text(`n${index}.txt`, `${index}`)),
    );
    await expect.poll(() => attached(page).count(), POLL).toBe(20);
    await page.getByText('A message takes 20 pictures and files; the rest was left out.').waitFor();
  });

  it('begin a session, too [DAY-010]', async () => {
    const { link } = await startPageHost(PROMPTS, new MemoryLog(), { storesContents: true, sees: true });
    const page = await open(link);
    await page
      .locator('input[data-attach="attach"]')
      .setInputFiles({ name: 'first.png', mimeType: 'image/png', buffer: PIXEL });
    await page.locator('.home .picture img').waitFor();
    await page.getByRole('textbox', { name: 'First message' }).fill('look');
    await page.getByRole('button', { name: 'Start', exact: true }).click();
    await expect.poll(() => drawn(page, '.user-message'), POLL).toEqual([1]);
  });
});
