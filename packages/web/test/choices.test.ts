/** Setting up a session: the folder by walking, a worktree and its branch, and signing in. */
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { type AgentBackend, offlineAgent, scriptedAgent } from '@atrium/host';
import { expect, it } from 'vitest';
import { parentUri, stepsTo } from '../src/files/entries.js';
import { begin, describeInBrowser, PHONE, POLL } from './support/browser.js';
import { startWorkHost } from './support/work-host.js';

const PROMPTS = {
  write: [{ callTool: { name: 'write_file', input: { path: 'new.txt', content: 'x\n' } } }, { text: 'Written.' }],
};

it('walks up and down through folders by their names', () => {
  expect(stepsTo('file:///srv/my%20app').map(({ uri }) => uri)).toEqual([
    'file:///',
    'file:///srv',
    'file:///srv/my%20app',
  ]);
  expect(parentUri('file:///srv/my%20app')).toBe('file:///srv');
  expect(parentUri('file:///srv')).toBe('file:///');
  expect(parentUri('file:///')).toBeUndefined();
});

describeInBrowser('choices for a new session', (open) => {
  it('fits a phone: what starts the session is in reach, and what is chosen can be read', async () => {
    const models = [{ id: 'one', name: 'A model with a long name' }];
    const agent = scriptedAgent({
      provider: 'long',
      displayName: 'An agent with a long name',
      models,
      prompts: PROMPTS,
    });
    const page = await open((await startWorkHost({ agents: [agent] })).link, PHONE);
    const right = async (name: string) => {
      const box = await page.getByRole('button', { name }).boundingBox();
      return box ? box.x + box.width : Number.POSITIVE_INFINITY;
    };
    await page.getByRole('button', { name: 'Start' }).waitFor();
    expect(await right('Start')).toBeLessThanOrEqual(390);
    expect(await right('Browse folders')).toBeLessThanOrEqual(390);
    await begin(page, 'write');
    for (const name of ['Mode', 'Model']) {
      const choice = page.locator('.compose-choices').getByRole('combobox', { name, exact: true });
      await choice.waitFor();
      expect((await choice.boundingBox())?.width).toBeGreaterThan(60);
    }
  });

  it('says how to get a model, where there is none', async () => {
    const alone = await open((await startWorkHost({ agents: [offlineAgent()] })).link);
    await alone.getByText('No model is connected yet.').waitFor();
    const other = await open((await startWorkHost({})).link);
    await other.getByText('The session lives in the host').waitFor();
    expect(await other.getByText('No model is connected yet.').count()).toBe(0);
  });

  it('finds the folder by walking through those of the host, with keys too', async () => {
    const files = { 'apps/desk/readme.md': 'desk\n', 'apps/phone/readme.md': 'phone\n', 'notes.txt': 'n\n' };
    const { link, folder } = await startWorkHost({ files });
    const page = await open(link);
    await page.getByRole('button', { name: 'Browse folders' }).click();
    const dialog = page.getByRole('dialog', { name: 'Choose a folder' });
    const rows = dialog.getByRole('treeitem');
    await expect.poll(() => rows.allInnerTexts(), POLL).toEqual(['apps']);
    await rows.first().click();
    await expect.poll(() => rows.allInnerTexts(), POLL).toEqual(['desk', 'phone']);
    await dialog.getByRole('tree', { name: 'Folders' }).press('p');
    await dialog.getByRole('tree', { name: 'Folders' }).press('ArrowRight');
    await dialog.getByText('No folders in here.').waitFor();
    await dialog.getByRole('button', { name: 'Use phone' }).click();
    expect(await page.getByRole('combobox', { name: 'Folder' }).inputValue()).toBe(path.join(folder, 'apps/phone'));
  });

  it('says kindly what the host does not show, and leads back', async () => {
    const { link, folder } = await startWorkHost({ files: { 'a/b.txt': '' } });
    const page = await open(link);
    await page.getByRole('button', { name: 'Browse folders' }).click();
    const dialog = page.getByRole('dialog', { name: 'Choose a folder' });
    await dialog.getByRole('navigation', { name: 'Path' }).getByRole('button', { name: '/', exact: true }).click();
    await dialog.getByText('The host does not show this folder here').waitFor();
    expect(await dialog.getByRole('button', { name: /^Use/ }).isDisabled()).toBe(true);
    await dialog.getByRole('button', { name: 'Begin where the host begins' }).click();
    await dialog.getByRole('button', { name: `Use ${path.basename(folder)}` }).click();
    expect(await page.getByRole('combobox', { name: 'Folder' }).inputValue()).toBe(folder);
  });

  it('[AHP-037] [AHP-038] offers a worktree in a repository, then its branches as they are typed', async () => {
    const { link, folder, git } = await startWorkHost({
      files: { 'a.txt': 'a\n' },
      isRepository: true,
      prompts: PROMPTS,
    });
    git('branch', 'feature/search');
    const faster = git('commit-tree', 'HEAD^{tree}', '-p', 'HEAD', '-m', 'faster').trim();
    git('branch', 'feature/speed', faster);
    const page = await open(link);
    const places = page.getByRole('combobox', { name: 'Works in' });
    await places.waitFor();
    expect(await page.getByRole('combobox', { name: 'Begins at' }).count()).toBe(0);
    await places.selectOption('worktree');
    const branch = page.getByRole('combobox', { name: 'Begins at' });
    await branch.waitFor();
    expect(await branch.inputValue()).toBe('main');
    const found = page.getByRole('listbox', { name: 'Suggestions' });
    await branch.focus();
    await found.getByRole('option', { name: 'main' }).waitFor();
    await branch.press('ArrowUp');
    expect(await found.getByRole('option').last().getAttribute('aria-selected')).toBe('true');
    await branch.fill('spe');
    expect(await found.getByRole('option', { selected: true }).count()).toBe(0);
    await expect.poll(() => found.getByRole('option').allInnerTexts(), POLL).toEqual(['feature/speed']);
    await branch.press('ArrowDown');
    await branch.press('Enter');
    expect(await branch.inputValue()).toBe('feature/speed');
    await begin(page, 'write');
    await page.getByRole('button', { name: 'Allow', exact: true }).click();
    await page.getByText('Written.').waitFor();
    await expect(readFile(path.join(folder, 'new.txt'))).rejects.toThrow('ENOENT');
    const own = git('branch', '--list', '--format=%(refname:short)', 'atrium/*').trim();
    expect(git('rev-parse', own).trim()).toBe(faster);
    expect(git('worktree', 'list')).toContain(`[${own}]`);
    await page.locator('.session-header').getByText(own).waitFor();
    await page.getByRole('navigation', { name: 'Sessions' }).getByText(own).waitFor();
  });

  it('[AHP-213] asks for the token that an agent needs, goes on with it, and keeps it nowhere', async () => {
    const resource = 'https://models.example.org';
    const taken: string[] = [];
    const locked = lockedAgent(resource, async (token) => {
      if (token !== 'good-token') throw new Error('not this one');
      taken.push(token);
    });
    const { link } = await startWorkHost({ agents: [locked] });
    const page = await open(link);
    await begin(page, 'hello');
    const form = page.getByRole('region', { name: 'Sign in' });
    const field = form.getByLabel('Token for Example models');
    await expect.poll(() => field.evaluate((it) => it === document.activeElement), POLL).toBe(true);
    await field.fill('bad-token');
    await field.press('Enter');
    await form.getByRole('alert').waitFor();
    await field.fill('good-token');
    await form.getByRole('button', { name: 'Sign in and go on' }).click();
    await page.getByText('You said: hello').waitFor();
    expect(taken).toEqual(['good-token']);
    const stored = await page.evaluate(() => JSON.stringify([{ ...localStorage }, { ...sessionStorage }]));
    expect(stored).not.toContain('good-token');
  });

  it('[AHP-214] says when an agent does not take its token any more, and takes a new one', async () => {
    const taken: string[] = [];
    const locked = lockedAgent('https://models.example.org', async (token) => void taken.push(token));
    const { link } = await startWorkHost({ agents: [locked] });
    const page = await open(link);
    await begin(page, 'hello');
    await page.getByLabel('Token for Example models').fill('first');
    await page.getByRole('button', { name: 'Sign in and go on' }).click();
    await page.getByText('You said: hello').waitFor();
    await page.getByRole('textbox', { name: 'Message' }).fill('expire');
    await page.getByRole('textbox', { name: 'Message' }).press('Enter');
    await page.getByText('does not take its token any more.').waitFor();
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    const dialog = page.getByRole('dialog', { name: 'Sign in' });
    await dialog.getByLabel('Token for Example models').fill('second');
    await dialog.getByRole('button', { name: 'Sign in and go on' }).click();
    await page.getByText('Signed in.').waitFor();
    expect(taken).toEqual(['first', 'second']);
    expect(await page.getByText('does not take its token any more.').count()).toBe(0);
  });
});

/** An agent that wants a token, and refuses to go on at the word `expire`. */
function lockedAgent(resource: string, take: (token: string) => Promise<void>): AgentBackend {
  const agent = scriptedAgent({
    provider: 'locked',
    displayName: 'Locked',
    models: [],
    prompts: { expire: [{ error: { errorType: 'auth', message: 'The token has expired.' } }] },
    default: [{ text: 'You said: ${text}' }],
  });
  const protectedResources = [{ resource, resource_name: 'Example models' }];
  return Object.assign(Object.create(agent), {
    info: { ...agent.info, protectedResources },
    authenticate: (_resource: string, token: string) => take(token),
  });
}
