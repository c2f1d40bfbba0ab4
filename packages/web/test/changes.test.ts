/** Changes: what an agent did, seen in the page and taken back from there, with real Git. */
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, it } from 'vitest';
import { fileName, stagedWord, stateOf } from '../src/changes/file-state.js';
import { expand, turnView, wholeViews } from '../src/changes/views.js';
import { begin, choose, DESKTOP, describeInBrowser, PHONE, POLL } from './support/browser.js';
import { puppetSession, standing, startPuppetHost } from './support/puppet-host.js';
import { complaintsOf, openTab, startWorkHost } from './support/work-host.js';

const SUM =
  'export function sum(values) {\n  let total = 0;\n  for (const v of values) total = v;\n  return total;\n}\n';
/** Far enough apart that both changes are pieces of their own. */
const LONG = `${SUM.slice(0, SUM.indexOf('\n') + 1)}${'  // nothing\n'.repeat(9)}${SUM.slice(SUM.indexOf('\n') + 1)}`;
const PROMPTS = {
  'fix it': [
    { callTool: { name: 'edit_file', input: { path: 'sum.js', oldText: 'total = v', newText: 'total += v' } } },
    { text: 'Fixed.' },
  ],
  'add notes': [
    { title: 'Add notes' },
    { callTool: { name: 'write_file', input: { path: 'notes.md', content: '# Notes\n\nOne.\n' } } },
    { text: 'Added.' },
  ],
};

/** An entry in the list of changesets. */
function all(uriTemplate: string, label = 'All changes') {
  return [{ label, uriTemplate, changeKind: 'session' as const }];
}

it('opens what needs no variables as it stands, and expands the one of a turn', () => {
  const entries = [
    ...all('ahp-changeset:/s/all', 'All'),
    ...all('ahp-changeset:/s/turn/{turnId}', 'Turn'),
    ...all('ahp-changeset:/s/{originalTurnId}/{modifiedTurnId}', 'Two'),
    ...all('ahp-changeset:/s/{colour}', 'Odd'),
  ];
  expect(wholeViews(entries).map(({ label }) => label)).toEqual(['All']);
  expect(turnView(entries, 'a/ü')?.uri).toBe('ahp-changeset:/s/turn/a%2F%C3%BC');
  expect(turnView(entries.slice(2), 'a')).toBeUndefined();
  expect(expand('x/{a}/{b}', { a: '1', b: '2' })).toBe('x/1/2');
});

it('says what became of a file', () => {
  const side = (uri: string) => ({ uri, content: { uri } });
  const renamed = { before: side('file:///p/a'), after: side('file:///p/b') };
  expect(stateOf({ after: side('x') }).letter).toBe('A');
  expect(stateOf({ before: side('x') }).letter).toBe('D');
  expect(stateOf({ before: side('x'), after: side('x') }).letter).toBe('M');
  expect(fileName(renamed, 'file:///p')).toBe('a → b');
  expect(stagedWord({ _meta: { git: { index: 'M', folder: '.' } } })).toBe('staged');
  expect(stagedWord({ _meta: { git: { index: 'M', folder: 'M' } } })).toBe('partly staged');
  expect(stagedWord({ _meta: { git: { index: '?', folder: '?' } } })).toBeUndefined();
  expect(stagedWord({})).toBeUndefined();
});

describeInBrowser('changes', (open) => {
  it('shows an edit of the agent, and takes it back: the file is as it was', async () => {
    const { link, folder, git } = await startWorkHost({
      files: { 'sum.js': SUM, 'other.js': '1\n' },
      isRepository: true,
      prompts: PROMPTS,
    });
    const file = path.join(folder, 'sum.js');
    const page = await open(link);
    const complaints = complaintsOf(page);
    await begin(page, 'fix it');
    await page.getByRole('button', { name: 'Allow', exact: true }).click();
    await page.getByText('Fixed.').waitFor();
    expect(await readFile(file, 'utf8')).toContain('total += v');
    expect(git('status', '--short')).toBe(' M sum.js\n');

    await page.getByRole('button', { name: /^Changes \+1/ }).click();
    const list = page.getByRole('list', { name: 'Changed files' });
    const head = list.getByRole('button', { name: /Changed sum\.js/ });
    await head.waitFor();
    expect(await head.innerText()).toMatch(/\+1[\s\S]*−1/);
    await head.click();
    await expect
      .poll(() => list.locator('.line.added').allInnerTexts(), POLL)
      .toEqual([expect.stringContaining('+= v')]);
    expect(await list.locator('.line.removed').innerText()).toContain('total = v');

    await list.getByRole('button', { name: 'Take back' }).click();
    const dialog = page.getByRole('dialog', { name: 'Take back?' });
    await dialog.getByText(/Changes that others made since stay/).waitFor();
    await dialog.getByRole('button', { name: 'Take back' }).click();
    await page.getByText('Took back 1 file.').waitFor();
    expect(await readFile(file, 'utf8')).toBe(SUM);
    expect(git('status', '--short')).toBe('');
    await page.getByText('Nothing has changed here.').waitFor();
    const ofTurn = page.locator('.turn-changes');
    await expect.poll(() => ofTurn.innerText(), POLL).toMatch(/\+1\s*−1\s+taken back/);
    expect(await ofTurn.locator('s').innerText()).toMatch(/\+1\s*−1/);

    await page.getByRole('button', { name: 'Put back' }).click();
    await expect.poll(() => readFile(file, 'utf8'), POLL).toContain('total += v');
    await expect.poll(() => ofTurn.innerText(), POLL).not.toContain('taken back');
    expect(complaints).toEqual([]);
  });

  it('takes back one piece of a file, in the colours of its language; the rest stays', async () => {
    const edit = (oldText: string, newText: string) => ({
      callTool: { name: 'edit_file', input: { path: 'sum.js', oldText, newText } },
    });
    const twice = [edit('total = v', 'total += v'), edit('sum(values)', 'sumOf(values)'), { text: 'Fixed.' }];
    const { link, folder } = await startWorkHost({ files: { 'sum.js': LONG }, prompts: { 'fix both': twice } });
    const page = await open(link);
    await begin(page, 'fix both');
    await page.getByRole('button', { name: 'Always allow …' }).click();
    await page.getByRole('button', { name: 'Allow, also from now on in this session' }).click();
    await page.getByText('Fixed.').waitFor();
    await page.getByRole('button', { name: /^Changes \+2/ }).click();
    const list = page.getByRole('list', { name: 'Changed files' });
    await list.getByRole('button', { name: /Changed sum\.js/ }).click();
    await list.locator('.line.added .hljs-title', { hasText: 'sumOf' }).waitFor();
    expect(await list.locator('.line.removed .hljs-title').allInnerTexts()).toEqual(['sum']);

    await list.getByRole('button', { name: 'Take back: Line 1', exact: true }).click();
    const dialog = page.getByRole('dialog', { name: 'Take back?' });
    await dialog.getByText('sum.js: Line 1').waitFor();
    await dialog.getByRole('button', { name: 'Take back' }).click();
    const file = path.join(folder, 'sum.js');
    await expect.poll(() => readFile(file, 'utf8'), POLL).toBe(LONG.replace('total = v', 'total += v'));
    await expect.poll(() => list.locator('.line.added').count(), POLL).toBe(1);
  });

  it('opens what an operation gives to look at: a file at once, an address when somebody wants to', async () => {
    const uri = 'ahp-changeset:/all';
    const operation = (id: string) => ({ id, label: id, scopes: ['changeset'], status: 'idle' });
    const session = puppetSession({ changesets: all(uri, 'All'), workingDirectories: ['file:///p'] });
    const operations = [operation('Publish'), operation('Explain'), operation('Trick')];
    const results: Record<string, unknown> = {
      Publish: { followUp: { content: { uri: 'https://example.org/pull/1' }, external: true } },
      Explain: { followUp: { content: { uri: 'file:///p/why.md' } } },
      Trick: { followUp: { content: { uri: 'javascript:alert(1)' } } },
    };
    const host = await startPuppetHost({
      session,
      channels: { [uri]: { status: 'ready', files: [], operations } },
      answer: (method, { operationId }) =>
        method === 'invokeChangesetOperation' ? results[String(operationId)] : undefined,
    });
    const page = await open(host.link);
    await openTab(page, 'Changes');
    await page.getByRole('button', { name: 'Publish' }).click();
    const link = page.getByRole('link', { name: 'https://example.org/pull/1' });
    expect(await link.getAttribute('rel')).toContain('noopener');
    await page.getByRole('button', { name: 'Trick' }).click();
    await link.waitFor({ state: 'detached' });
    await page.getByText('Trick: accepted.').waitFor();
    expect(await page.locator('.changes-panel a').count()).toBe(0);
    await page.getByRole('button', { name: 'Explain' }).click();
    await page.getByRole('region', { name: 'why.md' }).waitFor();
  });

  it('stages, commits and discards, for one file and for all, with the phone watching [DAY-080]', async () => {
    const { link, folder, git } = await startWorkHost({
      files: { 'sum.js': SUM, 'other.js': '1\n' },
      isRepository: true,
      prompts: PROMPTS,
    });
    const desktop = await open(link);
    await begin(desktop, 'add notes');
    await desktop.getByRole('button', { name: 'Allow', exact: true }).click();
    await desktop.getByText('Added.').waitFor();
    await writeFile(path.join(folder, 'other.js'), '2\n');
    await openTab(desktop, 'Changes');
    const phone = await open(link, PHONE);
    await choose(phone, /Add notes/);
    await openTab(phone, 'Changes');
    const list = desktop.getByRole('list', { name: 'Changed files' });
    const onPhone = phone.getByRole('list', { name: 'Changed files' });
    await list.getByRole('button', { name: /Added notes\.md/ }).click();
    const first = list.locator('.line.added').first();
    expect(await first.evaluate((line) => getComputedStyle(line, '::before').content)).toBe('"1"');
    await list.getByRole('button', { name: 'Stage' }).click();
    await desktop.getByText('Staged 1 file.').waitFor();
    await onPhone.getByRole('button', { name: /notes\.md staged/ }).waitFor();
    expect(git('status', '--short')).toBe('A  notes.md\n M other.js\n');

    await desktop.getByRole('button', { name: 'Commit', exact: true }).click();
    await desktop.getByRole('group', { name: 'Commit what is staged: 1 file on main' }).waitFor();
    expect(await desktop.getByRole('list', { name: 'Files of the commit' }).innerText()).toBe('notes.md');
    const message = desktop.getByRole('textbox', { name: 'Commit message' });
    await expect.poll(() => message.evaluate((field) => field === document.activeElement), POLL).toBe(true);
    await message.fill('Add notes');
    await message.press('Enter');
    await expect.poll(() => git('log', '--format=%s'), POLL).toBe('Add notes\nFirst\n');
    await desktop.getByText(/^Committed [0-9a-f]{7,}: Add notes \(1 file\)\./).waitFor();
    await onPhone.getByRole('button', { name: /notes\.md/ }).waitFor({ state: 'detached' });

    const field = desktop.getByRole('textbox', { name: 'Message' });
    await field.fill('/stage');
    await field.press('Enter');
    await expect.poll(() => git('status', '--short'), POLL).toBe('M  other.js\n');
    await field.fill('/unstage nothing.js');
    await field.press('Escape');
    await field.focus();
    await field.press('Enter');
    await desktop.getByText('No changed file is called nothing.js.').waitFor();
    await field.fill('/unstage');
    await field.press('Enter');
    await expect.poll(() => git('status', '--short'), POLL).toBe(' M other.js\n');

    await phone.getByRole('button', { name: 'Discard all' }).click();
    await phone.getByRole('dialog').getByRole('button', { name: 'Discard' }).click();
    await expect.poll(() => readFile(path.join(folder, 'other.js'), 'utf8'), POLL).toBe('1\n');
    await list.getByRole('button', { name: /other\.js/ }).waitFor({ state: 'detached' });
  });

  it('gives the focus to the question of an operation, however long it takes, unless the person has gone elsewhere', async () => {
    const uri = 'ahp-changeset:/all';
    const session = puppetSession({ changesets: all(uri) });
    const operations = [{ id: 'commit', label: 'Commit', scopes: ['changeset'], status: 'idle' }];
    let done: ((result: object) => void) | undefined;
    const host = await startPuppetHost({
      session,
      channels: { [uri]: { status: 'ready', files: [], operations } },
      answer: (method) =>
        method === 'invokeChangesetOperation' ? new Promise((resolve) => (done = resolve)) : undefined,
    });
    const page = await open(host.link);
    await page.clock.install();
    await openTab(page, 'Changes');
    const ask = (id: string) => {
      const questions = [{ id: 'message', kind: 'text' as const, message: `Message of ${id}` }];
      const [request] = standing({ id, questions }) ?? [];
      host.act(session.uri, { type: 'session/inputNeededSet', request });
    };
    const commit = async () => {
      done = undefined;
      await page.getByRole('button', { name: 'Commit' }).click();
      await expect.poll(() => done !== undefined, POLL).toBe(true);
    };
    const field = (id: string) => page.getByRole('textbox', { name: `Message of ${id}` });
    const hasFocus = (id: string) => field(id).evaluate((element) => element === document.activeElement);

    await commit();
    // Longer than anybody would take for a moment.
    await page.clock.fastForward(2_500);
    ask('slow');
    done?.({});
    await expect.poll(() => hasFocus('slow'), POLL).toBe(true);
    ask('of somebody else');
    await field('of somebody else').waitFor();
    expect(await hasFocus('slow')).toBe(true);

    await commit();
    const composer = page.getByRole('textbox', { name: 'Message', exact: true });
    await composer.click();
    ask('late');
    done?.({});
    await field('late').waitFor();
    expect(await composer.evaluate((element) => element === document.activeElement)).toBe(true);
  });

  it('shows why the host did not do it', async () => {
    const uri = 'ahp-changeset:/all';
    const operations = [{ id: 'stage', label: 'Stage', scopes: ['changeset'], status: 'idle' }];
    const host = await startPuppetHost({
      session: puppetSession({ changesets: all(uri) }),
      channels: {
        [uri]: { status: 'error', error: { errorType: 'x', message: 'Not everything.' }, files: [], operations },
      },
      answer: () => {
        throw Object.assign(new Error('the index is locked'), { code: -32011 });
      },
    });
    const page = await open(host.link);
    await openTab(page, 'Changes');
    await page.getByText('Not everything.').waitFor();
    await page.getByRole('button', { name: 'Stage' }).click();
    await page.getByRole('alert').filter({ hasText: 'the index is locked' }).waitFor();
  });

  it.each([DESKTOP, PHONE])(
    'shows why an undo failed where the person is looking, also far down the list',
    async (screen) => {
      const uri = 'ahp-changeset:/all';
      const side = (name: string) => ({ uri: `file:///p/${name}`, content: { uri: `data:text/plain,${name}` } });
      const names = Array.from({ length: 40 }, (_, index) => `f${index}.js`);
      const operations = [{ id: 'undo', label: 'Take back', scopes: ['resource'], status: 'idle' }];
      const host = await startPuppetHost({
        session: puppetSession({ changesets: all(uri) }),
        channels: {
          [uri]: {
            status: 'ready',
            files: names.map((name) => ({ id: name, edit: { after: side(name) } })),
            operations,
          },
        },
        answer: () => {
          throw Object.assign(new Error('nothing was changed: f39.js was changed since'), { code: -32011 });
        },
      });
      const page = await open(host.link, screen);
      await openTab(page, 'Changes');
      await page.getByRole('button', { name: /f39\.js/ }).click();
      await page.getByRole('button', { name: 'Take back' }).click();
      const problem = page.getByRole('alert').filter({ hasText: 'Take back failed: nothing was changed: f39.js' });
      await problem.waitFor();
      const { y = -1, height = 0 } = (await problem.boundingBox()) ?? {};
      expect(y).toBeGreaterThanOrEqual(0);
      expect(y + height).toBeLessThanOrEqual(page.viewportSize()?.height ?? 0);
      await problem.getByRole('button', { name: 'Dismiss' }).click();
      await problem.waitFor({ state: 'detached' });
    },
  );

  it('[CLI-026] asks with the words of the operation before it destroys anything', async () => {
    const uri = 'ahp-changeset:/all';
    const operations = [
      { id: 'keep', label: 'Keep', scopes: ['changeset'], status: 'idle' },
      { id: 'undo', label: 'Undo all', scopes: ['changeset'], status: 'idle', confirmation: 'Two files will be lost.' },
    ];
    const session = puppetSession({ changesets: all(uri) });
    const channels = { [uri]: { status: 'ready', files: [], operations } };
    const answer = (method: string) => (method === 'invokeChangesetOperation' ? {} : undefined);
    const host = await startPuppetHost({ session, channels, answer });
    const page = await open(host.link);
    const invoked = () => host.ofMethod('invokeChangesetOperation').map(({ params }) => params.operationId);
    await openTab(page, 'Changes');
    await page.getByRole('button', { name: 'Keep' }).click();
    await expect.poll(invoked, POLL).toEqual(['keep']);

    await page.getByRole('button', { name: 'Undo all' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('Two files will be lost.').waitFor();
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    expect(invoked()).toEqual(['keep']);
    await page.getByRole('button', { name: 'Undo all' }).click();
    await dialog.getByRole('button', { name: 'Undo all' }).click();
    await expect.poll(invoked, POLL).toEqual(['keep', 'undo']);
  });
});
