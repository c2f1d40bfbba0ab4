/** Formulas, diagrams, footnotes, tables, local pictures and places in files, in an answer. */
import { expect, it } from 'vitest';
import { begin, describeInBrowser, POLL } from './support/browser.js';
import { complaintsOf, startWorkHost } from './support/work-host.js';

const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);
const FILES = {
  'out/plot.png': PNG,
  'out/drawing.svg': '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>',
  'out/fake.png': '<svg xmlns="http://www.w3.org/2000/svg" onload="window.owned = 1"/>',
  'src/app.ts': Array.from({ length: 60 }, (_, index) => `export const line${index + 1} = ${index};`).join('\n'),
};
const ANSWER = `Inline $e^{i\\pi} + 1 = 0$ and \\(a_1\\), but not $5 or $10, nor \`$x$\`. A note[^why].

$$
\\sum_{k=1}^n k = \\frac{n(n+1)}{2}
$$

Broken: $\\frac{1}$. Trusted: $\\href{javascript:window.owned=2}{x}$.

| Left | Middle | Right |
|:-----|:------:|------:|
| a    | b      | 12    |

- [x] done
- [ ] open

![A plot](out/plot.png) ![A drawing](out/drawing.svg) ![A lie](out/fake.png) ![Outside](/etc/hostname)

See src/app.ts:42, \`app.ts:7\`, [the code](src/app.ts#L9) and example.com:443.

\`\`\`mermaid
flowchart LR
  A[Start] --> B{Works?}
  B -->|yes| C[Done]
\`\`\`

\`\`\`mermaid
flowchart LR
  A --> <<<
\`\`\`

[^why]: Because it is **so**.

The end.
`;

describeInBrowser('reading', (open) => {
  it('formulas, tables, footnotes and local pictures are shown, and what fails stays as it is written [DAY-110]', async () => {
    const { link } = await startWorkHost({ prompts: { read: [{ text: ANSWER }] }, files: FILES });
    const page = await open(link);
    const complaints = complaintsOf(page);
    await begin(page, 'read');
    const prose = page.locator('.prose');
    await prose.getByText('The end.').waitFor();
    await expect.poll(() => prose.locator('.formula .katex').count(), POLL).toBe(4);
    expect(await prose.locator('.formula.block').count()).toBe(1);
    expect(await prose.getByText('$5 or $10').count()).toBe(1);
    expect(await prose.locator('code', { hasText: '$x$' }).count()).toBe(1);
    expect(await prose.locator('code[data-math]').allInnerTexts()).toEqual(['\\frac{1}']);
    expect(await prose.locator('.formula :is(a, [href], img, script)').count()).toBe(0);
    // The styles that the library needs were set: a fraction has two parts, one above the other.
    const heights = await prose
      .locator('.formula.block .vlist > span')
      .evaluateAll((all) => all.map(({ style }) => style.top));
    expect(heights.filter((top) => top.endsWith('em')).length).toBeGreaterThan(2);

    const cells = await prose.locator('td').evaluateAll((all) => all.map((cell) => getComputedStyle(cell).textAlign));
    expect(cells.map((align) => align.replace('-webkit-', '').replace('start', 'left'))).toEqual([
      'left',
      'center',
      'right',
    ]);
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await page.getByRole('button', { name: 'Copy table' }).click();
    expect(await page.evaluate(() => navigator.clipboard.readText())).toBe('Left\tMiddle\tRight\na\tb\t12');

    const image = prose.locator('img.local-image');
    await image.waitFor();
    expect(await image.evaluateAll((all) => all.map((each) => each.getAttribute('alt')))).toEqual(['A plot']);
    expect(await image.evaluate((each) => (each as HTMLImageElement).naturalWidth)).toBe(1);
    await prose.getByText('Image: A drawing').waitFor();
    await prose.getByText('Image: A lie').waitFor();
    await prose.getByText('Image: Outside').waitFor();

    await prose.locator('sup a', { hasText: 'why' }).click();
    expect(await page.evaluate(() => document.activeElement?.getAttribute('href'))).toBe('#footnote-back-why');
    await page.keyboard.press('Enter');
    expect(await page.evaluate(() => document.activeElement?.getAttribute('href'))).toBe('#footnote-why');
    expect(page.url()).toContain('#/session/');
    expect(await page.evaluate(() => 'owned' in window)).toBe(false);
    expect(complaints).toEqual([]);
  });

  it('diagrams are drawn in a frame without origin and network, and shown as pictures [DAY-110]', async () => {
    const { link } = await startWorkHost({
      prompts: { read: [{ text: ANSWER }], plain: [{ text: 'Plain.' }] },
      files: FILES,
    });
    const page = await open(link);
    const asked: string[] = [];
    page.on('request', (request) => asked.push(new URL(request.url()).pathname));
    await begin(page, 'plain');
    await page.locator('.prose').getByText('Plain.').waitFor();
    expect(asked.filter((path) => /katex|formulas|diagram/i.test(path))).toEqual([]);
    await page.getByRole('textbox', { name: 'Message' }).fill('read');
    await page.keyboard.press('Enter');
    const picture = page.getByRole('img', { name: 'Diagram (flowchart)' });
    await picture.waitFor();
    expect(await picture.getAttribute('src')).toMatch(/^data:image\/svg\+xml/);
    expect(await picture.evaluate((each) => (each as HTMLImageElement).naturalWidth)).toBeGreaterThan(100);
    await page.getByText('This diagram cannot be drawn:').waitFor();
    await page.locator('code', { hasText: 'A --> <<<' }).waitFor();
    await page.getByRole('button', { name: 'Source', exact: true }).click();
    await page.locator('.diagram code', { hasText: 'A[Start] --> B{Works?}' }).waitFor();

    const frame = page.frames().find((each) => each.url().includes('/diagram/'));
    const facts = await frame?.evaluate(async () => {
      const reach = async (work: () => Promise<unknown>) =>
        work().then(
          () => 'reached',
          () => 'refused',
        );
      return {
        origin,
        sandbox: document.location.origin !== 'null' && origin === 'null',
        fetched: await reach(() => fetch('/')),
        page: await reach(async () => parent.document.title),
        storage: await reach(async () => localStorage.length),
        elsewhere: await reach(() => fetch('http://192.0.2.1/')),
      };
    });
    expect(facts).toMatchObject({
      origin: 'null',
      fetched: 'refused',
      page: 'refused',
      storage: 'refused',
      elsewhere: 'refused',
    });
  });

  it('a place in a file opens the file there, or in the editor that was chosen [DAY-101]', async () => {
    const { link, folder } = await startWorkHost({ prompts: { read: [{ text: ANSWER }] }, files: FILES });
    const page = await open(link);
    await begin(page, 'read');
    const prose = page.locator('.prose');
    await prose.getByText('The end.').waitFor();
    expect(await prose.locator('.file-link').allInnerTexts()).toEqual(['src/app.ts:42', 'app.ts:7', 'the code']);
    await prose.getByRole('button', { name: 'src/app.ts:42' }).focus();
    await page.keyboard.press('Enter');
    await page.locator('.line-mark').waitFor();
    const marked = await page.locator('.line-mark').evaluate((mark) => {
      const { top } = mark.getBoundingClientRect();
      const text = mark.parentElement?.getBoundingClientRect();
      return {
        isSeen: text !== undefined && top >= text.top && top < text.bottom,
        offset: (mark as HTMLElement).offsetTop,
      };
    });
    expect(marked.isSeen).toBe(true);
    expect(Math.round((marked.offset - 10) / (13 * 1.6))).toBe(41);

    await page.keyboard.press('Control+,');
    await page.getByLabel('Files open in').selectOption('Cursor');
    await page.keyboard.press('Escape');
    await page.evaluate(() => {
      const kept = window as unknown as { went: string[] };
      kept.went = [];
      HTMLAnchorElement.prototype.click = function click() {
        kept.went.push(this.href);
      };
    });
    await prose.getByRole('button', { name: 'the code' }).click();
    expect(await page.evaluate(() => (window as unknown as { went: string[] }).went)).toEqual([
      `cursor://file${folder}/src/app.ts:9`,
    ]);
  });
});
