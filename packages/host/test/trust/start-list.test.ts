/** After any change of what a trusted folder starts, the host asks a person before anything of it runs. */
import { existsSync } from 'node:fs';
import { mkdir, rename, rm, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, it } from 'vitest';
import { declaredPrograms } from '../../src/declared-programs.js';
import { TrustedFolders } from '../../src/plugins/trust/folder-trust.js';
import { type CustomFixture, MCP_PROGRAM, openCustomFixture, POLL } from '../support/custom-fixture.js';
import { tempFolder } from '../support/temp-folder.js';

/** A program that leaves a file behind. */
const leaving = (file: string) => ({
  command: process.execPath,
  args: ['-e', `require('fs').writeFileSync(${JSON.stringify(file)}, '')`],
});
const line = (file: string) => `node -e "require('fs').writeFileSync('${file}','')"`;
const text = (value: object) => JSON.stringify(value);
const hooks = (command: string) => ({ hooks: { UserPromptSubmit: [{ hooks: [{ type: 'command', command }] }] } });

/** Where a folder may declare programs, and how: each with a program that leaves this file behind. */
const KINDS: Readonly<Record<string, { readonly file: string; readonly content: (mark: string) => string }>> = {
  'mcpServers of atrium.json': {
    file: 'atrium.json',
    content: (mark) => text({ mcpServers: { notes: leaving(mark) } }),
  },
  'the .mcp.json of a plugin': {
    file: '.agents/plugins/tools/.mcp.json',
    content: (mark) => text({ mcpServers: { notes: leaving(mark) } }),
  },
  'servers in the manifest of a plugin': {
    file: '.agents/plugins/tools/.plugin/plugin.json',
    content: (mark) => text({ name: 'tools', mcpServers: { notes: leaving(mark) } }),
  },
  'the hooks file of a plugin': {
    file: '.agents/plugins/tools/hooks/hooks.json',
    content: (mark) => text(hooks(line(mark))),
  },
  'hooks in the manifest of a plugin': {
    file: '.agents/plugins/tools/.claude-plugin/plugin.json',
    content: (mark) => text({ name: 'tools', hooks: hooks(line(mark)) }),
  },
};

async function folders() {
  return new TrustedFolders(path.join(await tempFolder(), 'trusted.json'));
}

async function questionIn(fixture: CustomFixture, part: string) {
  const find = async () =>
    (await fixture.state()).inputRequests?.find(
      ({ id, message }) => id.startsWith('trust-') && message?.includes(part),
    );
  await expect.poll(find, POLL).toBeTruthy();
  return (await find()) ?? { id: '', message: '' };
}

function say(fixture: CustomFixture, requestId: string, response: 'accept' | 'decline' = 'accept'): void {
  fixture.client.dispatch(fixture.uri, { type: 'session/inputCompleted', requestId, response });
}

/** Hooks run with turns, so there is one more until they did. */
async function turnsUntil(fixture: CustomFixture, isDone: () => boolean): Promise<void> {
  const turn = async () => {
    const { turnId, finish } = await fixture.turn();
    finish();
    await fixture.client.action(
      fixture.uri,
      (action) => action.type === 'session/turnComplete' && action.turnId === turnId,
    );
    return isDone();
  };
  await expect.poll(turn, POLL).toBe(true);
}

describe('a trusted folder', { timeout: 60_000 }, () => {
  it.each(Object.keys(KINDS))('[REL-055] needs a new yes for what was changed in %s', async (kind) => {
    const { file, content } = KINDS[kind] as (typeof KINDS)[string];
    const [first, second] = ['first', 'second'];
    const fixture = await openCustomFixture({ project: { [file]: content(first) }, folders: await folders() });
    const at = (name: string) => path.join(fixture.folder, name);
    await mkdir(at('.agents/plugins/tools'), { recursive: true });
    const ran = (name: string) => existsSync(at(name)) || existsSync(at(`.agents/plugins/tools/${name}`));
    say(fixture, (await questionIn(fixture, first)).id);
    await turnsUntil(fixture, () => ran(first));
    await writeFile(at(file), content(second));
    const { message } = await questionIn(fixture, second);
    expect(message).not.toContain(first);
    await turnsUntil(fixture, () => true);
    // Nor does a restart make a yes of it.
    await fixture.restart();
    await turnsUntil(fixture, () => true);
    const { id } = await questionIn(fixture, second);
    expect(ran(second)).toBe(false);
    say(fixture, id);
    await turnsUntil(fixture, () => ran(second));
  });

  it('[REL-055] keeps what is unchanged running, and asks about what a client wrote', async () => {
    const good = { command: process.execPath, args: [MCP_PROGRAM, 'good'] };
    const project = { 'atrium.json': text({ mcpServers: { good } }) };
    const fixture = await openCustomFixture({ project, folders: await folders() });
    say(fixture, (await questionIn(fixture, 'MCP server good: ')).id);
    await fixture.entry('good', ({ state }) => state?.kind === 'ready');
    const before = fixture.client.envelopes(fixture.uri).length;
    const uri = pathToFileURL(path.join(fixture.folder, 'atrium.json')).href;
    const data = text({ mcpServers: { good, evil: { ...leaving('evil'), env: { A: 'b' } } } });
    await fixture.client.request('resourceWrite', { channel: 'ahp-root://', uri, data, encoding: 'utf-8' });
    const { message, id } = await questionIn(fixture, 'MCP server evil: ');
    expect(message).toContain('(sets A)');
    expect(message).not.toContain('MCP server good');
    say(fixture, id, 'decline');
    await expect.poll(() => fixture.toolNames(), POLL).toContain('mcp__good__echo');
    const states = fixture.client.envelopes(fixture.uri).slice(before);
    expect(JSON.stringify(states)).not.toContain('"starting"');
    expect(existsSync(path.join(fixture.folder, 'evil'))).toBe(false);
  });

  it('[REL-055] takes a yes for what was shown, not for what the file says by then', async () => {
    const { file, content } = KINDS['mcpServers of atrium.json'] as (typeof KINDS)[string];
    const fixture = await openCustomFixture({ project: { [file]: content('shown') }, folders: await folders() });
    const { id } = await questionIn(fixture, 'shown');
    await writeFile(path.join(fixture.folder, file), content('other'));
    say(fixture, id);
    await questionIn(fixture, 'other');
    expect(existsSync(path.join(fixture.folder, 'other'))).toBe(false);
  });

  it('[REL-055] is the same by every way that leads there, and two sessions ask for one yes', async () => {
    const { file, content } = KINDS['the .mcp.json of a plugin'] as (typeof KINDS)[string];
    const fixture = await openCustomFixture({ project: { [file]: content('mark') }, folders: await folders() });
    const link = path.join(await tempFolder(), 'link');
    await symlink(fixture.folder, link);
    const other = await fixture.client.session(undefined, { workingDirectory: pathToFileURL(link).href });
    const asked = async () =>
      ((await fixture.client.state<{ inputRequests?: object[] }>(other)).inputRequests ?? []).length;
    await expect.poll(asked, POLL).toBe(1);
    say(fixture, (await questionIn(fixture, 'mark')).id);
    await expect.poll(asked, POLL).toBe(0);
  });

  it('[REL-055] follows no link to another start-list without a yes', async () => {
    const { file, content } = KINDS['mcpServers of atrium.json'] as (typeof KINDS)[string];
    const fixture = await openCustomFixture({ project: { [file]: content('first') }, folders: await folders() });
    const at = (name: string) => path.join(fixture.folder, name);
    say(fixture, (await questionIn(fixture, 'first')).id);
    await expect.poll(() => existsSync(at('first')), POLL).toBe(true);
    await writeFile(at('theirs.json'), content('second'));
    await rm(at(file));
    await symlink('theirs.json', at(file));
    await questionIn(fixture, 'second');
    expect(existsSync(at('second'))).toBe(false);
  });

  it('[REL-055] is another folder when it was moved, and asks again there', async () => {
    const { file, content } = KINDS['the .mcp.json of a plugin'] as (typeof KINDS)[string];
    const trusted = await folders();
    const base = await tempFolder({ [`one/${file}`]: content('mark') });
    await trusted.trust(
      path.join(base, 'one'),
      (await declaredPrograms(path.join(base, 'one'))).programs.map(({ digest }) => digest),
    );
    await rename(path.join(base, 'one'), path.join(base, 'two'));
    const fixture = await openCustomFixture({
      folders: trusted,
      session: { workingDirectory: pathToFileURL(path.join(base, 'two')).href },
    });
    await questionIn(fixture, 'mark');
  });

  it('[REL-055] [REL-053] declares the same programs to a terminal as to a session, and shows no secret of the host', async () => {
    process.env.ATRIUM_TEST_SECRET = 'top-secret';
    try {
      const secret = { command: 'node', args: ['x.js', '${ATRIUM_TEST_SECRET}'], env: { B: '${ATRIUM_TEST_SECRET}' } };
      const remote = { url: 'https://example.test/${ATRIUM_TEST_SECRET}', headers: { Authorization: 'x' } };
      const project = {
        'atrium.json': text({ mcpServers: { secret, remote }, plugins: ['more'] }),
        'more/hooks/hooks.json': text(hooks('sh "${PLUGIN_ROOT}/check.sh"')),
      };
      const trusted = await folders();
      const fixture = await openCustomFixture({ project, folders: trusted });
      const { message = '' } = await questionIn(fixture, 'hook UserPromptSubmit');
      const { programs } = await declaredPrograms(fixture.folder);
      expect(programs.map(({ line: shown }) => shown).sort()).toEqual([
        'MCP server remote: connects to https://example.test/${ATRIUM_TEST_SECRET} (sends the headers Authorization)',
        'MCP server secret: node x.js ${ATRIUM_TEST_SECRET} (sets B)',
        'hook UserPromptSubmit of plugin more in ./more: sh "${PLUGIN_ROOT}/check.sh"',
      ]);
      for (const { line: shown } of programs) expect(message).toContain(`    ${shown}\n`);
      expect(message).not.toContain('top-secret');
      await trusted.trust(
        fixture.folder,
        programs.map(({ digest }) => digest),
      );
      await expect.poll(async () => (await fixture.state()).inputRequests ?? [], POLL).toEqual([]);
    } finally {
      delete process.env.ATRIUM_TEST_SECRET;
    }
  });

  it.each([
    ['https://evil.test\\@good.test/mcp', 'https://evil.test/@good.test/mcp'],
    ['https://me:secret@good.test/a?b#c', 'https://…@good.test/a?b#c'],
    ['https:///evil.test/${TOKEN}/@good.test', 'https://evil.test/${TOKEN}/@good.test'],
    ['https://g\u043e\u043ed.test/', 'https://xn--gd-fmca.test/'],
  ])('[REL-053] shows the host that is really asked by %s', async (url, shown) => {
    const folder = await tempFolder({ 'atrium.json': text({ mcpServers: { remote: { url } } }) });
    const [program] = (await declaredPrograms(folder)).programs;
    expect(program?.line).toBe(`MCP server remote: connects to ${shown}`);
  });

  it('[REL-053] shows the host that an agent really asks', async () => {
    const agents = { mine: { type: 'model', api: 'openai', baseURL: 'https://evil.test\\.good.test/v1' } };
    const folder = await tempFolder({ 'atrium.json': text({ agents }) });
    const [program] = (await declaredPrograms(folder)).programs;
    expect(program?.line).toBe('agent mine: asks https://evil.test/.good.test/v1');
  });

  it('[REL-053] shows the values of variables that make a program load something else, and no others', async () => {
    const env = { API_KEY: 'secret', NODE_OPTIONS: '--require ./other.js', LD_PRELOAD: './x.so' };
    const folder = await tempFolder({
      'atrium.json': text({ mcpServers: { s: { command: 'node', args: ['a.js'], env } } }),
    });
    const [program] = (await declaredPrograms(folder)).programs;
    expect(program?.line).toBe(
      'MCP server s: node a.js (sets API_KEY NODE_OPTIONS="--require ./other.js" LD_PRELOAD=./x.so)',
    );
  });
});
