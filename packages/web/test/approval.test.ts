/** What a person approves in the page is what runs: whole, visible, and never beside a button that says otherwise. */
import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { ToolCallPendingConfirmationState, ToolResultContent } from '@atrium/protocol/ahp-1';
import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { begin, describeInBrowser, PHONE, POLL, pass, readAll } from './support/browser.js';
import { startMortalHost } from './support/mortal-host.js';
import { startPageHost } from './support/page-host.js';
import { begun, type Puppet, puppetSession, startPuppetHost } from './support/puppet-host.js';

const CALL: ToolCallPendingConfirmationState = {
  status: 'pending-confirmation',
  toolCallId: 'c1',
  toolName: 'shell',
  displayName: 'Shell',
  invocationMessage: 'Run it',
  confirmationTitle: 'Run it?',
  editable: true,
  options: [
    { id: 'approve', label: 'Run', kind: 'approve' },
    { id: 'deny', label: 'Do not run', kind: 'deny' },
  ],
};

/** Each of them would deceive a display that shows it as it is. */
const HOSTILE: Readonly<Record<string, string>> = {
  overwritten: 'rm -rf ~\rls -la      ',
  erased: `rm -rf ~${'\b'.repeat(8)}ls -la`,
  title: 'ls \x1b]0;harmless\x07 rm',
  unended: 'ls \x1b]\ntouch PWNED',
  device: 'ls \x1bPq\nrm\x1b\\',
  cursor: 'rm -rf ~\x1b[2K\x1b[1Gls',
  hiddenColour: '\x1b[8mrm -rf ~\x1b[0mls',
  eightBit: '\x9b8mrm\x9b0m',
  link: '\x1b]8;;https://example.org\x1b\\ls\x1b]8;;\x1b\\',
  nul: 'ls\0rm',
  tabs: `ls${'\t'.repeat(1_000)}; rm -rf ~`,
  spaces: `ls${' '.repeat(2_000)}; rm -rf ~`,
  blankLines: `ls${'\n'.repeat(200)}rm -rf ~`,
  oneLine: `echo ${'x'.repeat(20_000)}; rm -rf ~`,
  reversed: 'echo "\u202e~ fr- mr\u202c"',
  isolated: 'a\u2066b\u2069c\u200e\u200f\u061c',
  zeroWidth: 'r\u200bm\u2060 \ufeff-rf\u00ad ~',
  joiners: 'r\u200cm\u200d -rf ~',
  selectors: 'rm\ufe0f -rf\ufe00 ~\u{e0100}',
  tags: `ls${[...'rm -rf ~'].map((letter) => String.fromCodePoint(0xe0000 + letter.charCodeAt(0))).join('')}`,
  otherBlanks: 'rm\u00a0-rf\u3000~\u2003x\u2800y\u3164z\u115f\u1160\uffa0',
  separators: 'ls\u2028rm\u2029rm\u0085rm\u000brm\u000crm',
  zalgo: `ls${'\u0336\u0489'.repeat(300)} r${'\u0300'.repeat(300)}m`,
  marksAlone: '\u0301\u20dd\u034f ls',
  surrogates: 'ls\ud800\udfff\udc00 rm',
  privateUse: 'ls\ue000\u{f0000}\u{10ffff}\ufffe',
  rightToLeft: 'rm אבג / דהו; echo 1 2 3 שלום',
  interlinear: 'ls\ufff9rm\ufffb\ufffc',
  family: `echo ${'👨‍👩‍👧‍👦'.repeat(50)}; rm -rf ~`,
  html: '<b>ls</b><button>Run</button><!-- rm --><img src=x onerror=alert(1)>&#8238;',
  markdown: '`ls` [Run](https://example.org) ![x](data:image/png;base64,AAAA)\n\n---\n# Safe',
  writtenOut: '\\x1b \\u{202e} \\n \\\\x1b',
  forged: 'ls\ncommand: ls\n  1 ls\n42 lines',
};

function asking(...calls: Partial<ToolCallPendingConfirmationState>[]): Puppet {
  const responseParts = calls.map((call, index) => ({
    kind: 'toolCall' as const,
    toolCall: { ...CALL, toolCallId: `c${index + 1}`, ...call },
  }));
  return puppetSession({ status: 24 }, { activeTurn: begun(responseParts) });
}

/** A call whose result waits for somebody to release it. */
function withholding(block: ToolResultContent): Puppet {
  const toolCall = {
    ...{ status: 'pending-result-confirmation' as const, toolCallId: 'c1', toolName: 'shell', displayName: 'Shell' },
    ...{ invocationMessage: 'Run ls', toolInput: '{"command":"ls"}', confirmed: 'user-action' as const },
    ...{ success: true, pastTenseMessage: 'Ran ls', content: [block] },
  };
  const responseParts = [{ kind: 'toolCall' as const, toolCall }];
  return puppetSession({ status: 24 }, { activeTurn: begun(responseParts) });
}

const command = (text: string) => ({ toolInput: JSON.stringify({ command: text }) });
const run = (page: Page) => page.getByRole('button', { name: 'Run', exact: true });
/** What stands in the card, line by line as it runs. */
const shownLines = (page: Page) =>
  page.locator('.visible-line').evaluateAll((lines) => lines.map((line) => line.textContent?.replace(/\n$/, '') ?? ''));
const marks = (page: Page) => page.locator('.is-asking mark').allInnerTexts();

/** Waits for what colours code, which the page loads when there is some, and until the page has drawn what it makes of it. */
async function highlighterOf(page: Page): Promise<void> {
  const loaded = () =>
    page.evaluate(() => {
      const files = performance.getEntriesByType('resource').map(({ name }) => name);
      return files.find((name) => /\/languages-[\w-]+\.js$/.test(name));
    });
  await expect.poll(loaded, POLL).toBeDefined();
  await page.evaluate(`import(${JSON.stringify(await loaded())}).then(() => {})`);
  await pass(page, 100);
}

describeInBrowser('a question for permission', (open) => {
  const ask = async (...calls: Partial<ToolCallPendingConfirmationState>[]) => {
    const host = await startPuppetHost({ session: asking(...calls) });
    const page = await open(host.link);
    await page.getByRole('group', { name: 'Permission' }).first().waitFor();
    const answers = () =>
      host
        .ofMethod('dispatchAction')
        .map(({ params }) => params.action as { readonly type: string })
        .filter(({ type }) => type === 'chat/toolCallConfirmed');
    return { page, answers };
  };

  it('[REL-051] spells out what cannot be seen, and marks it', async () => {
    const { page } = await ask(command('ls \u202egpj.exe\u202c r\u200bm\u00a0x \x1b]0;\r\b'));
    expect(await shownLines(page)).toEqual(['ls \\u{202e}gpj.exe\\u{202c} r\\u{200b}m\\xa0x \\x1b]0;\\r\\x08']);
    expect(await marks(page)).toEqual(['\\u{202e}', '\\u{202c}', '\\u{200b}', '\\xa0', '\\x1b', '\\r\\x08']);
    await expect.poll(() => run(page).isEnabled(), POLL).toBe(true);
  });

  it('[REL-051] tells an escape from the same letters written out', async () => {
    const { page } = await ask(command('\\x1b \x1b'));
    expect(await shownLines(page)).toEqual(['\\x1b \\x1b']);
    expect(await marks(page)).toEqual(['\\x1b']);
  });

  it('[REL-051] lets nothing run before the end of a long command was in view, and counts its lines', async () => {
    const { page, answers } = await ask(command(`echo start${'\n'.repeat(41)}touch PWNED`));
    await page.getByText('42 lines', { exact: true }).waitFor();
    expect(await run(page).isDisabled()).toBe(true);
    await page.keyboard.press('Alt+y');
    await page.getByText('there is more below: read to the end').waitFor();
    await page.getByRole('button', { name: 'Show the end' }).click();
    await page.locator('.visible-line', { hasText: 'touch PWNED' }).waitFor();
    await expect.poll(() => run(page).isEnabled(), POLL).toBe(true);
    expect(answers()).toEqual([]);
    expect((await shownLines(page)).filter((line) => line !== '')).toEqual(['echo start', 'touch PWNED']);
    await page.keyboard.press('Alt+y');
    await expect.poll(answers, POLL).toMatchObject([{ approved: true, toolCallId: 'c1' }]);
  });

  it.each([
    ['on a desktop', undefined],
    ['on a phone', PHONE],
  ])('[REL-051] wraps a long line, so that its end is on the screen, %s', async (_where, size) => {
    const host = await startPuppetHost({ session: asking(command(`echo ${'x'.repeat(400)}; rm -rf END`)) });
    const page = await open(host.link, size);
    await page.getByRole('group', { name: 'Permission' }).waitFor();
    const fits = () =>
      page.locator('.read-text').evaluate((box) => box.scrollWidth <= box.clientWidth && box.clientWidth > 0);
    await expect.poll(fits, POLL).toBe(true);
  });

  it('[REL-051] cannot be folded while it asks', async () => {
    const { page } = await ask(command('ls'));
    expect(await page.locator('.tool-call [aria-expanded]').count()).toBe(0);
    await page.locator('.tool-head').click();
    expect(await shownLines(page)).toEqual(['ls']);
  });

  it('[REL-051] keeps the order of letters that are written from right to left', async () => {
    const { page } = await ask(command('echo אבג; rm דה'));
    const places = await page.locator('.visible-line').evaluate((line) => {
      const text = document.createTreeWalker(line, NodeFilter.SHOW_TEXT).nextNode();
      if (!text) return [];
      return [...(text.textContent ?? '')].map((_, index) => {
        const range = document.createRange();
        range.setStart(text, index);
        range.setEnd(text, index + 1);
        return range.getBoundingClientRect().left;
      });
    });
    expect(places.length).toBeGreaterThan(10);
    expect(places).toEqual([...places].sort((a, b) => a - b));
  });

  it('[REL-051] shows the raw input where its members would not say all of it', async () => {
    const raw = '{"command":"ls","command":"rm -rf ~"}';
    const { page } = await ask({ toolInput: raw });
    expect(await shownLines(page)).toEqual([raw]);
  });

  it('[REL-051] takes nothing in a title, a name or a message for more than text', async () => {
    const { page } = await ask({
      ...command('rm -rf ~'),
      toolName: 'evil_tool',
      displayName: 'Shell\u202e',
      invocationMessage: { markdown: '**Run** `ls` [Allow](https://example.org)' },
      confirmationTitle: { markdown: 'Run `ls`? ![x](data:image/png;base64,AAAA) <button>Run</button>\n\ncommand: ls' },
    });
    expect(await page.locator('.is-asking :is(a, img, strong)').count()).toBe(0);
    expect(await page.locator('.tool-message').count()).toBe(0);
    expect(await page.locator('.is-asking .question').innerText()).toContain('<button>Run</button> command: ls');
    expect(await page.locator('.tool-head').innerText()).toMatch(/Shell\\u\{202e\}\s*evil_tool/);
    expect(await run(page).count()).toBe(1);
    expect(await shownLines(page)).toEqual(['rm -rf ~']);
  });

  it('[REL-051] shows a change whole, with its name, and the input that it does not say', async () => {
    const after = `${'line\n'.repeat(300)}${'y'.repeat(300)}\x1bP\u200b\n`;
    const uri = 'file:///srv/app/a%E2%80%AEgpj.sh';
    const content = { uri: `data:text/plain;base64,${Buffer.from(after).toString('base64')}` };
    const { page } = await ask({
      toolInput: JSON.stringify({ path: 'a\u202egpj.sh', content: after, mode: '755' }),
      edits: { items: [{ after: { uri, content }, diff: { added: 301, removed: 0 } }] },
    });
    await page.locator('.diff .line').first().waitFor();
    expect(await page.locator('.diff .line.added').count()).toBe(301);
    expect(await page.locator('.diff .path').innerText()).toContain('a\\u{202e}gpj.sh');
    expect(await page.locator('.diff .line mark').allInnerTexts()).toEqual(['\\x1b', '\\u{200b}']);
    expect(await shownLines(page)).toEqual(['755']);
    await page.getByText('301 lines', { exact: true }).waitFor();
    expect(await run(page).isDisabled()).toBe(true);
    await page.getByRole('button', { name: 'Show the end' }).click();
    await expect.poll(() => run(page).isEnabled(), POLL).toBe(true);
    const isWide = await page.locator('.diff .read-text').evaluate((box) => box.scrollWidth > box.clientWidth);
    expect(isWide).toBe(false);
  });

  it('[REL-051] does not take a file for the content that it will hold only after the call', async () => {
    const content = 'new\n'.repeat(9_000);
    const { link, folder } = await startPageHost({
      large: [{ callTool: { name: 'write_file', input: { path: 'a.txt', content } } }, { text: 'Done.' }],
    });
    await writeFile(path.join(folder, 'a.txt'), 'old\n');
    const page = await open(link);
    await begin(page, 'large');
    await page.locator('.diff .line.removed', { hasText: 'old' }).waitFor();
    expect(await page.locator('.diff .line.added').count()).toBe(9_000);
    expect(await page.getByText('Nothing in it changes').count()).toBe(0);
  });

  it('[UP-253] [REL-051] shows an input that the host names by reference whole, before it may run', async () => {
    const lines = Array.from({ length: 1_300 }, (_, index) => `: ${index} ${'x'.repeat(50)}`);
    const text = ['echo start', ...lines, 'touch DONE'].join('\n');
    const { link, folder } = await startPageHost({
      large: [{ callTool: { name: 'shell', input: { command: text } } }, { text: 'Done.' }],
    });
    const page = await open(link);
    const asked: string[] = [];
    page.on('websocket', (socket) => socket.on('framesent', ({ payload }) => asked.push(String(payload))));
    await page.reload();
    await begin(page, 'large');
    await page.getByText('1,302 lines', { exact: true }).waitFor();
    expect(await shownLines(page)).toEqual(text.split('\n'));
    expect(asked.filter((frame) => /"resourceRead".*"atrium-input:/.test(frame))).toHaveLength(1);
    expect(await run(page).isDisabled()).toBe(true);
    expect(existsSync(path.join(folder, 'DONE'))).toBe(false);
    await readAll(page, run(page));
    await run(page).click();
    await page.getByText('Done.').waitFor();
    expect(existsSync(path.join(folder, 'DONE'))).toBe(true);
  });

  it('[UP-253] [REL-051] shows an edit of a file whose content only stands behind a reference', async () => {
    const content = 'a line of the file\n'.repeat(4_000);
    const { link, folder } = await startPageHost({
      large: [{ callTool: { name: 'write_file', input: { path: 'a.txt', content } } }, { text: 'Done.' }],
    });
    await writeFile(path.join(folder, 'a.txt'), 'old\n');
    const page = await open(link);
    await begin(page, 'large');
    await page.locator('.diff .line.removed', { hasText: 'old' }).waitFor();
    expect(await page.locator('.diff .line.added').count()).toBe(4_000);
  });

  it('[UP-253] [REL-051] allows nothing whose input cannot be read, or is being read, or has changed since', async () => {
    const texts: Record<string, string> = { 'x:first': 'echo first', 'x:second': 'echo second' };
    let release = () => {};
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    const session = asking({ toolInput: { uri: 'x:first' } }, { toolInput: { uri: 'x:missing' } });
    const host = await startPuppetHost({
      session,
      answer: async (method, { uri }) => {
        const text = texts[String(uri)];
        if (method !== 'resourceRead' || text === undefined) throw Object.assign(new Error('gone'), { code: -32008 });
        if (uri === 'x:second') await released;
        // A host may answer in base64, although text was asked for.
        return { data: Buffer.from(text).toString('base64'), encoding: 'base64' };
      },
    });
    const page = await open(host.link);
    await page.getByText('echo first').waitFor();
    await expect.poll(() => run(page).first().isEnabled(), POLL).toBe(true);
    // The other one offers no yes at all.
    await page.getByText('cannot be read here').waitFor();
    expect(await run(page).count()).toBe(1);
    host.act(session.chat.resource, {
      type: 'chat/toolCallReady',
      ...{ turnId: 't1', toolCallId: 'c1', invocationMessage: 'Run it', toolInput: { uri: 'x:second' } },
    });
    await page.getByText('echo first').waitFor({ state: 'detached' });
    expect(await run(page).isDisabled()).toBe(true);
    release();
    await page.getByText('echo second').waitFor();
    await expect.poll(() => run(page).isEnabled(), POLL).toBe(true);
  });

  it('[REL-051] offers no yes to what is too long to be read here', async () => {
    const { page } = await ask(command('x\n'.repeat(10_001)));
    await page.getByText('too long to be read here').first().waitFor();
    expect(await run(page).count()).toBe(0);
    expect(await page.getByRole('button', { name: 'Do not run' }).isEnabled()).toBe(true);
  });

  it('[REL-051] shows every one of many hostile texts as it runs, and none of it outside of its box', async () => {
    const { page } = await ask({ toolInput: JSON.stringify(HOSTILE) });
    const shown = await page.locator('.tool-input > div').evaluateAll((rows) =>
      rows.map((row) => {
        const lines = [...row.querySelectorAll('.visible-line')].map((line) =>
          [...line.childNodes]
            .map((node) => ({ text: node.textContent ?? '', isMark: node instanceof HTMLElement }))
            .slice(0, -1),
        );
        return { name: row.querySelector('dt')?.textContent ?? '', lines };
      }),
    );
    const spelled = (text: string) =>
      text.replace(/\\(?:([nrt])|x([\da-f]{2})|u\{([\da-f]+)\})/g, (_, letter, byte, code) =>
        letter ? { n: '\n', r: '\r', t: '\t' }[letter as 'n'] : String.fromCodePoint(Number.parseInt(byte ?? code, 16)),
      );
    const read = shown.map(({ name, lines }) => [
      name,
      lines.map((line) => line.map(({ text, isMark }) => (isMark ? spelled(text) : text)).join('')).join('\n'),
    ]);
    expect(Object.fromEntries(read)).toEqual(HOSTILE);
    const outside = await page.locator('.read-text').evaluate((box) => {
      const { left, right } = box.getBoundingClientRect();
      return [...box.querySelectorAll('.visible-line, mark')].filter((element) => {
        const place = element.getBoundingClientRect();
        return place.left < left - 1 || place.right > right + 1;
      }).length;
    });
    expect(outside).toBe(0);
  });

  it('[REL-051] gives a second question that follows at once a moment to be seen', async () => {
    const { page, answers } = await ask(command('ls'), command('rm -rf ~'));
    await expect.poll(() => run(page).first().isEnabled(), POLL).toBe(true);
    await page.keyboard.press('Alt+y');
    await page.keyboard.press('Alt+y');
    await expect.poll(answers, POLL).toHaveLength(1);
    expect(answers()).toMatchObject([{ toolCallId: 'c1' }]);
  });

  it('[REL-051] keeps what would run in the window below a very long question', async () => {
    const { page } = await ask({ ...command('rm -rf ~'), confirmationTitle: `Run ls? ${'word '.repeat(2_000)}` });
    const isShown = () => page.locator('.visible-line').evaluate((line) => line.getBoundingClientRect().top > 0);
    await expect.poll(isShown, POLL).toBe(true);
    expect(await run(page).isDisabled()).toBe(true);
    await page.getByRole('button', { name: 'Show the end' }).click();
    await expect.poll(() => run(page).isEnabled(), POLL).toBe(true);
  });

  it('[REL-051] shows the whole of a result before the model may see it', async () => {
    const text = `a\u202e${'\n'.repeat(80)}secret`;
    const host = await startPuppetHost({ session: withholding({ type: 'text', text }) });
    const page = await open(host.link);
    const allow = page.getByRole('button', { name: 'Let it see' });
    await page.getByText('81 lines', { exact: true }).waitFor();
    expect(await marks(page)).toEqual(['\\u{202e}']);
    expect(await allow.isDisabled()).toBe(true);
    await page.getByRole('button', { name: 'Show the end' }).click();
    await expect.poll(() => allow.isEnabled(), POLL).toBe(true);
  });

  it('[REL-051] shows also what the host keeps aside of a result before the model may see it', async () => {
    const data = `kept${'\n'.repeat(80)}secret`;
    const host = await startPuppetHost({
      session: withholding({ type: 'resource', uri: 'atrium-content:/x', contentType: 'text/plain' }),
      answer: (method) => (method === 'resourceRead' ? { data, encoding: 'utf-8' } : undefined),
    });
    const page = await open(host.link);
    const allow = page.getByRole('button', { name: 'Let it see' });
    const show = page.getByRole('button', { name: 'Show all of it' });
    await show.waitFor();
    // Longer than a new question is guarded.
    await pass(page, 500);
    expect(await allow.isDisabled()).toBe(true);
    await show.click();
    await page.getByText('81 lines', { exact: true }).waitFor();
    expect(await allow.isDisabled()).toBe(true);
    await page.getByRole('button', { name: 'Show the end' }).click();
    await expect.poll(() => allow.isEnabled(), POLL).toBe(true);
  });

  it('[REL-052] sends advice as a denial, by every way that is left', async () => {
    const { page, answers } = await ask(command('ls'), command('rm -rf ~'));
    const first = page.getByRole('group', { name: 'Permission' }).first();
    await first.getByRole('button', { name: 'Deny with advice' }).click();
    await page.keyboard.type('look first');
    expect(await first.locator('[data-answer=approve]').count()).toBe(0);
    await page.keyboard.press('Alt+y');
    const primary = first.locator('.primary');
    expect(await primary.innerText()).toBe('Deny with this advice');
    await primary.click();
    await expect
      .poll(answers, POLL)
      .toMatchObject([{ approved: false, toolCallId: 'c1', userSuggestion: { text: 'look first' } }]);
  });

  it('[REL-051] cuts no words of an answer, on a phone', async () => {
    const options = [
      { id: 'a', label: `Run ${'x'.repeat(300)}`, kind: 'approve' as const },
      { id: 'b', label: 'Do not run', kind: 'deny' as const },
    ];
    const host = await startPuppetHost({ session: asking({ ...command('ls'), options }) });
    const page = await open(host.link, PHONE);
    const card = page.getByRole('group', { name: 'Permission' });
    await card.waitFor();
    const room = await card.evaluate((element) => element.getBoundingClientRect().right);
    for (const button of await card.getByRole('button').all())
      expect(await button.evaluate((element) => element.getBoundingClientRect().right)).toBeLessThanOrEqual(room);
  });

  it('[REL-051] answers nothing by keyboard that something else lies over', async () => {
    const { page, answers } = await ask(command('ls'));
    await expect.poll(() => run(page).isEnabled(), POLL).toBe(true);
    await page.keyboard.press('Control+/');
    await page.locator('dialog[open]').waitFor();
    await page.keyboard.press('Alt+y');
    await pass(page, 300);
    expect(answers()).toEqual([]);
    await page.keyboard.press('Escape');
    await page.locator('dialog[open]').waitFor({ state: 'detached' });
    await page.keyboard.press('Alt+y');
    await expect.poll(answers, POLL).toMatchObject([{ approved: true }]);
  });

  it('[REL-051] shows every line of a change in its own place, whatever a highlighter makes of the file', async () => {
    const { link, folder } = await startPageHost({
      go: [
        {
          callTool: {
            name: 'edit_file',
            input: { path: 'app.js', oldText: 'tidy();\n', newText: 'tidy();\nlog();\nevil();\n' },
          },
        },
      ],
    });
    const steps = Array.from({ length: 10 }, (_, index) => `step(${index});\n`).join('');
    await writeFile(path.join(folder, 'app.js'), `const a = css\`[b\rc]\`;\n${steps}tidy();\nend();\n`);
    const page = await open(link);
    await begin(page, 'go');
    await page.getByRole('button', { name: 'Allow', exact: true }).waitFor();
    await highlighterOf(page);
    const added = await page.locator('.is-asking .line.added').allTextContents();
    expect(added).toEqual(['+ log();\n', '+ evil();\n']);
  });

  it('[REL-051] answers by keyboard only what can be seen', async () => {
    const { page, answers } = await ask(
      command('ls'),
      ...Array.from({ length: 8 }, () => command('echo more\n'.repeat(15))),
    );
    await page.locator('.timeline').evaluate((timeline) => timeline.scrollTo(0, timeline.scrollHeight));
    await page.keyboard.press('Alt+y');
    await pass(page, 300);
    expect(answers().every((answer) => 'toolCallId' in answer && answer.toolCallId !== 'c1')).toBe(true);
  });
});

describeInBrowser('a question of the agent', (open) => {
  it('stands there once, with its choices', async () => {
    const { link } = await startPageHost({
      ask: [
        { callTool: { name: 'ask_user', input: { question: 'Which size?', options: ['Small', 'Large'] } } },
        { text: 'Done: ${lastResult}' },
      ],
    });
    const page = await open(link);
    await begin(page, 'ask');
    const form = page.getByRole('form', { name: 'Question' });
    await form.waitFor();
    await page.getByText('Its question is below').waitFor();
    const text = await page.locator('.conversation').innerText();
    expect(text.match(/Which size\?/g)).toHaveLength(1);
    expect(text).not.toContain('["Small"');
    await form.getByText('Large').click();
    await form.getByRole('button', { name: 'Answer' }).click();
    await page.getByText('Done: Large').waitFor();
  });
});

describeInBrowser('an agent at work', (open) => {
  it('is not said to work while its host cannot be reached', async () => {
    const host = await startMortalHost({
      provider: 'slow',
      displayName: 'Slow',
      prompts: { wait: [{ text: 'Begun.' }, { delayMs: 60_000 }] },
    });
    const page = await open(host.link);
    await begin(page, 'wait');
    await page.getByText('Begun.').waitFor();
    await page.locator('p.working', { hasText: 'Working' }).waitFor();
    await host.kill();
    await page.getByText('The host is out of reach').waitFor();
    expect(await page.getByText('Working', { exact: true }).count()).toBe(0);
  });
});
