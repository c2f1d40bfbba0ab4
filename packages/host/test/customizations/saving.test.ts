import { mkdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, it } from 'vitest';
import { type CustomRoom, openCustomRoom, POLL } from '../support/custom-room.js';
import { tempFolder } from '../support/temp-folder.js';

const RULE = '---\ndescription: s\nalwaysApply: true\n---\nSHORT LINES';

function write(room: CustomRoom, file: string, params: object = {}) {
  const uri = pathToFileURL(path.resolve(room.folder, file)).href;
  return room.desk.ask('resourceWrite', { channel: 'ahp-root://', uri, data: RULE, encoding: 'utf-8', ...params });
}

async function childNames(room: CustomRoom, name: string): Promise<readonly string[]> {
  return (await room.entry(name)).children?.map((child) => child.name) ?? [];
}

describe('a change on disk', { timeout: 30_000 }, () => {
  it('[CUS-096] [CUS-094] [AHP-193] is read a moment later, and many at once are read as one', async () => {
    const room = await openCustomRoom({ user: { 'plugins/style/rules/a.md': RULE } });
    expect(await childNames(room, 'style')).toEqual(['a']);
    const updates = () => room.desk.types(room.uri).filter((type) => type === 'session/customizationUpdated').length;
    const before = updates();
    for (const name of ['b', 'c', 'd'])
      await writeFile(path.join(room.userFolder, `plugins/style/rules/${name}.md`), RULE);
    await expect.poll(() => childNames(room, 'style'), POLL).toEqual(['a', 'b', 'c', 'd']);
    expect(updates() - before).toBeLessThanOrEqual(2);
    await writeFile(path.join(room.userFolder, 'plugins/style/rules/e.md'), '---\n: [\n---\nbroken');
    await room.entry('style', ({ load }) => load?.kind === 'degraded');
    await writeFile(path.join(room.userFolder, 'plugins/style/rules/e.md'), RULE);
    await room.entry('style', ({ load }) => load?.kind === 'loaded');
    await mkdir(path.join(room.userFolder, 'plugins/style/.plugin'));
    await writeFile(path.join(room.userFolder, 'plugins/style/.plugin/plugin.json'), 'not JSON');
    await room.entry('style', ({ load }) => load?.kind === 'error');
  });

  it('[CUS-096] brings a new plugin into the session', async () => {
    const room = await openCustomRoom();
    await mkdir(path.join(room.userFolder, 'plugins/late/rules'), { recursive: true });
    await writeFile(path.join(room.userFolder, 'plugins/late/rules/a.md'), RULE);
    await room.entry('late', ({ load }) => load?.kind === 'loaded');
    const { turn } = await room.turn();
    expect((await turn.renderPrompt()).get('custom_instructions')).toContain('SHORT LINES');
  });
});

describe('saving a customization', { timeout: 30_000 }, () => {
  it('[CUS-121] [CUS-122] [REL-043] [AHP-192] makes the directory with the first file, and shows what was saved', async () => {
    const room = await openCustomRoom();
    expect((await room.entries()).map(({ name }) => name)).not.toContain('.agents/rules');
    expect(await write(room, '.agents/rules/short.md')).toMatchObject({ result: {} });
    await expect.poll(() => childNames(room, '.agents/rules'), POLL).toEqual(['short']);
    expect(await readFile(path.join(room.folder, '.agents/rules/short.md'), 'utf8')).toBe(RULE);
    expect(await write(room, '.agents/skills/hello/SKILL.md')).toMatchObject({ result: {} });
    await expect.poll(() => childNames(room, '.agents/skills'), POLL).toEqual(['hello']);
  });

  it("[CUS-122] makes the user's own folder too", async () => {
    const room = await openCustomRoom({ user: { 'rules/a.md': RULE } });
    await room.entry('~/.agents/rules');
    await rm(room.userFolder, { recursive: true });
    expect(await write(room, path.join(room.userFolder, 'rules/short.md'))).toMatchObject({ result: {} });
    await expect.poll(() => childNames(room, '~/.agents/rules'), POLL).toEqual(['short']);
  });

  it('writes a file as a whole, and not over another one when it is to be new', async () => {
    const room = await openCustomRoom({ project: { '.agents/rules/a.md': 'old' } });
    await room.entry('.agents/rules');
    const file = path.join(room.folder, '.agents/rules/a.md');
    expect((await write(room, '.agents/rules/a.md', { createOnly: true })).error?.code).toBe(-32010);
    expect(await readFile(file, 'utf8')).toBe('old');
    const data = Buffer.from('new').toString('base64');
    expect(await write(room, '.agents/rules/a.md', { data, encoding: 'base64' })).toMatchObject({ result: {} });
    expect(await readFile(file, 'utf8')).toBe('new');
    expect((await write(room, '.agents/rules/a.md', { mode: 'append' })).error?.code).toBe(-32602);
  });

  it('[CUS-121] [REL-043] is refused everywhere else', async () => {
    const room = await openCustomRoom({ project: { '.github/prompts/a.prompt.md': 'A', 'src/x.md': 'X' } });
    await room.entry('.github/prompts');
    const outside = await tempFolder({ 'victim.md': 'V' });
    await mkdir(path.join(room.folder, '.agents/rules'), { recursive: true });
    await symlink(outside, path.join(room.folder, '.agents/rules/away'));
    await symlink(path.join(room.folder, 'src'), path.join(room.folder, '.agents/rules/near'));
    await symlink(path.join(outside, 'victim.md'), path.join(room.folder, '.agents/rules/link.md'));
    const places = [
      ...['.github/prompts/b.prompt.md', '.agents/plugins/x/hooks/hooks.json', '.git/hooks/x', '/etc/atrium-test'],
      ...['.agents/rules', '.agents/rules/away/victim.md', '.agents/rules/near/x.md', '.agents/rules/link.md'],
    ];
    for (const place of places) expect((await write(room, place)).error?.code, place).toBe(-32009);
    const uri = 'virtual://x/y.md';
    const elsewhere = await room.desk.ask('resourceWrite', {
      channel: 'ahp-root://',
      uri,
      data: '',
      encoding: 'utf-8',
    });
    expect(elsewhere.error?.code).toBe(-32009);
    expect(await readFile(path.join(outside, 'victim.md'), 'utf8')).toBe('V');
    expect(await readFile(path.join(room.folder, 'src/x.md'), 'utf8')).toBe('X');
  });
});
