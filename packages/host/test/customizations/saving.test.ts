import { mkdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, it } from 'vitest';
import { type CustomFixture, openCustomFixture, POLL } from '../support/custom-fixture.js';
import { tempFolder } from '../support/temp-folder.js';

const RULE = '---\ndescription: s\nalwaysApply: true\n---\nSHORT LINES';

function write(fixture: CustomFixture, file: string, params: object = {}) {
  const uri = pathToFileURL(path.resolve(fixture.folder, file)).href;
  return fixture.client.ask('resourceWrite', { channel: 'ahp-root://', uri, data: RULE, encoding: 'utf-8', ...params });
}

async function childNames(fixture: CustomFixture, name: string): Promise<readonly string[]> {
  return (await fixture.entry(name)).children?.map((child) => child.name) ?? [];
}

describe('a change on disk', { timeout: 30_000 }, () => {
  it('[CUS-096] [CUS-094] [AHP-193] is read a moment later, and many at once are read as one', async () => {
    const fixture = await openCustomFixture({ user: { 'plugins/style/rules/a.md': RULE } });
    expect(await childNames(fixture, 'style')).toEqual(['a']);
    const updates = () =>
      fixture.client.types(fixture.uri).filter((type) => type === 'session/customizationUpdated').length;
    const before = updates();
    for (const name of ['b', 'c', 'd'])
      await writeFile(path.join(fixture.userFolder, `plugins/style/rules/${name}.md`), RULE);
    await expect.poll(() => childNames(fixture, 'style'), POLL).toEqual(['a', 'b', 'c', 'd']);
    expect(updates() - before).toBeLessThanOrEqual(2);
    await writeFile(path.join(fixture.userFolder, 'plugins/style/rules/e.md'), '---\n: [\n---\nbroken');
    await fixture.entry('style', ({ load }) => load?.kind === 'degraded');
    await writeFile(path.join(fixture.userFolder, 'plugins/style/rules/e.md'), RULE);
    await fixture.entry('style', ({ load }) => load?.kind === 'loaded');
    await mkdir(path.join(fixture.userFolder, 'plugins/style/.plugin'));
    await writeFile(path.join(fixture.userFolder, 'plugins/style/.plugin/plugin.json'), 'not JSON');
    await fixture.entry('style', ({ load }) => load?.kind === 'error');
  });

  it('[CUS-096] brings a new plugin into the session', async () => {
    const fixture = await openCustomFixture();
    await mkdir(path.join(fixture.userFolder, 'plugins/late/rules'), { recursive: true });
    await writeFile(path.join(fixture.userFolder, 'plugins/late/rules/a.md'), RULE);
    await fixture.entry('late', ({ load }) => load?.kind === 'loaded');
    const { turn } = await fixture.turn();
    expect((await turn.renderPrompt()).get('custom_instructions')).toContain('SHORT LINES');
  });
});

describe('saving a customization', { timeout: 30_000 }, () => {
  it('[CUS-121] [CUS-122] [REL-043] [AHP-192] makes the directory with the first file, and shows what was saved', async () => {
    const fixture = await openCustomFixture();
    expect((await fixture.entries()).map(({ name }) => name)).not.toContain('.agents/rules');
    expect(await write(fixture, '.agents/rules/short.md')).toMatchObject({ result: {} });
    await expect.poll(() => childNames(fixture, '.agents/rules'), POLL).toEqual(['short']);
    expect(await readFile(path.join(fixture.folder, '.agents/rules/short.md'), 'utf8')).toBe(RULE);
    expect(await write(fixture, '.agents/skills/hello/SKILL.md')).toMatchObject({ result: {} });
    await expect.poll(() => childNames(fixture, '.agents/skills'), POLL).toEqual(['hello']);
  });

  it("[CUS-122] makes the user's own folder too", async () => {
    const fixture = await openCustomFixture({ user: { 'rules/a.md': RULE } });
    await fixture.entry('~/.agents/rules');
    await rm(fixture.userFolder, { recursive: true });
    expect(await write(fixture, path.join(fixture.userFolder, 'rules/short.md'))).toMatchObject({ result: {} });
    await expect.poll(() => childNames(fixture, '~/.agents/rules'), POLL).toEqual(['short']);
  });

  it('writes a file as a whole, and not over another one when it is to be new', async () => {
    const fixture = await openCustomFixture({ project: { '.agents/rules/a.md': 'old' } });
    await fixture.entry('.agents/rules');
    const file = path.join(fixture.folder, '.agents/rules/a.md');
    expect((await write(fixture, '.agents/rules/a.md', { createOnly: true })).error?.code).toBe(-32010);
    expect(await readFile(file, 'utf8')).toBe('old');
    const data = Buffer.from('new').toString('base64');
    expect(await write(fixture, '.agents/rules/a.md', { data, encoding: 'base64' })).toMatchObject({ result: {} });
    expect(await readFile(file, 'utf8')).toBe('new');
    expect((await write(fixture, '.agents/rules/a.md', { mode: 'append' })).error?.code).toBe(-32602);
  });

  it('[CUS-121] [REL-043] is refused everywhere else', async () => {
    const fixture = await openCustomFixture({ project: { '.github/prompts/a.prompt.md': 'A', 'src/x.md': 'X' } });
    await fixture.entry('.github/prompts');
    const outside = await tempFolder({ 'victim.md': 'V' });
    await mkdir(path.join(fixture.folder, '.agents/rules'), { recursive: true });
    await symlink(outside, path.join(fixture.folder, '.agents/rules/away'));
    await symlink(path.join(fixture.folder, 'src'), path.join(fixture.folder, '.agents/rules/near'));
    await symlink(path.join(outside, 'victim.md'), path.join(fixture.folder, '.agents/rules/link.md'));
    const places = [
      ...['.github/prompts/b.prompt.md', '.agents/plugins/x/hooks/hooks.json', '.git/hooks/x', '/etc/atrium-test'],
      ...['.agents/rules', '.agents/rules/away/victim.md', '.agents/rules/near/x.md', '.agents/rules/link.md'],
    ];
    for (const place of places) expect((await write(fixture, place)).error?.code, place).toBe(-32009);
    const uri = 'virtual://x/y.md';
    const elsewhere = await fixture.client.ask('resourceWrite', {
      channel: 'ahp-root://',
      uri,
      data: '',
      encoding: 'utf-8',
    });
    expect(elsewhere.error?.code).toBe(-32009);
    expect(await readFile(path.join(outside, 'victim.md'), 'utf8')).toBe('V');
    expect(await readFile(path.join(fixture.folder, 'src/x.md'), 'utf8')).toBe('X');
  });
});
