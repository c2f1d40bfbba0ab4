/** The text of an agent can do nothing to the page or its reader. */
import { expect, it } from 'vitest';
import { begin, describeInBrowser } from './support/browser.js';
import { startPageHost } from './support/page-host.js';

const HOSTILE = `# Fine <script>window.owned = 1</script>

<img src=x onerror="window.owned = 2"> <svg onload="window.owned = 3"></svg>

[click](javascript:window.owned=4) [data](data:text/html,<script>window.owned=5</script>) [web](https://example.org)

![picture](http://192.0.2.1/tracker.png) <img src="http://192.0.2.1/other.png">

<iframe src="http://192.0.2.1/"></iframe> <form action="http://192.0.2.1/"><input name=q></form>
<style>body { display: none }</style> <a class="dialog" id="root" style="position:fixed" href="vbscript:x">odd</a>

\`\`\`html
<script>window.owned = 6</script><img src=x onerror="window.owned = 7">
\`\`\`

**bold**
`;

describeInBrowser('hostile Markdown', (open) => {
  it('runs nothing, loads nothing and leaves by no other way than a link to the web', async () => {
    const { link, url } = await startPageHost({ attack: [{ text: HOSTILE }] });
    const page = await open(link);
    const elsewhere: string[] = [];
    page.on('request', (request) => {
      if (!request.url().startsWith(url)) elsewhere.push(request.url());
    });
    await begin(page, 'attack');
    await page.locator('.prose strong', { hasText: 'bold' }).waitFor();
    await page.getByText('click').click();
    const prose = page.locator('.prose');
    const forbidden =
      'script, iframe, form, input, style, svg, object, [onerror], [onload], [style], [id], [class=dialog]';
    expect(await prose.locator(`:is(${forbidden})`).count()).toBe(0);
    expect(await prose.locator('img').count()).toBe(0);
    const links = await prose.locator('a[href]').evaluateAll((all) => all.map((each) => each.getAttribute('href')));
    expect(links).toEqual(['https://example.org', 'http://192.0.2.1/tracker.png']);
    expect(await prose.locator('a[href]').first().getAttribute('rel')).toContain('noopener');
    expect(await prose.locator('pre').innerText()).toContain('<script>window.owned = 6</script>');
    expect(await page.evaluate(() => 'owned' in window)).toBe(false);
    expect(elsewhere).toEqual([]);
  });

  it('is no more than code in a diff, whatever it says', async () => {
    const content =
      '<p>\n<!-- a\n</span><script>window.owned = 1</script>\n<img src=x onerror="window.owned = 2">\n-->\n';
    const write = { callTool: { name: 'write_file', input: { path: 'x.html', content } } };
    const { link } = await startPageHost({ attack: [write] });
    const page = await open(link);
    await begin(page, 'attack');
    const lines = page.locator('.diff .line.added');
    await lines.locator('.hljs-comment').first().waitFor();
    expect(await lines.allInnerTexts()).toEqual(
      content
        .trimEnd()
        .split('\n')
        .map((line) => `+ ${line}\n`),
    );
    expect(await page.locator('.diff :is(script, img)').count()).toBe(0);
    expect(await page.evaluate(() => 'owned' in window)).toBe(false);
  });
});
