import { mkdir, rm, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import type { SessionState } from '@atrium/protocol';
import { describe, expect, it } from 'vitest';
import { MCP_PROGRAM, openCustomFixture, POLL } from '../support/custom-fixture.js';
import { FailingLog } from '../support/logs.js';
import { envelopesOf } from '../support/session-fixture.js';
import { tempFolder } from '../support/temp-folder.js';

const SKILL = '---\ndescription: Says hello.\n---\nSay hello.';
const RULE = '---\ndescription: Style\nalwaysApply: true\n---\nWrite short lines.';
const SERVER = { mcpServers: { notes: { command: 'no-such-command-here', args: ['--secret'] } } };

describe('where customizations come from', { timeout: 30_000 }, () => {
  it('[CUS-095] tells what it found in one list, read and whole, and of directories never by an update', async () => {
    const fixture = await openCustomFixture({
      project: { '.agents/rules/style.md': RULE },
      user: { 'plugins/greeter/skills/hello/SKILL.md': SKILL },
    });
    await fixture.entry('greeter');
    const told = () =>
      envelopesOf(fixture.client, fixture.uri).filter(({ action }) => action.type.startsWith('session/customization'));
    expect(told().map(({ action }) => action.type)).toEqual(['session/customizationsChanged']);
    const [first] = told();
    expect(first?.action.customizations).toMatchObject([
      { type: 'directory', name: '.agents/rules', load: { kind: 'loaded' }, children: [{ name: 'style' }] },
      { type: 'plugin', name: 'greeter', load: { kind: 'loaded' }, children: [{ type: 'skill', name: 'hello' }] },
    ]);
    await writeFile(path.join(fixture.folder, '.agents/rules/more.md'), RULE);
    await fixture.entry('.agents/rules', ({ children }) => children?.length === 2);
    await rm(path.join(fixture.folder, '.agents'), { recursive: true });
    await expect.poll(async () => (await fixture.entries()).map(({ name }) => name), POLL).toEqual(['greeter']);
    const updated = told().filter(({ action }) => action.type === 'session/customizationUpdated');
    expect(updated.map(({ action }) => (action.customization as { type: string }).type)).not.toContain('directory');
  });

  it('[CUS-110] lists plugins, directories and servers, but no directories that are not there', async () => {
    const fixture = await openCustomFixture({
      project: {
        '.agents/rules/style.md': RULE,
        '.github/prompts/fix.prompt.md': 'Fix it.',
        'atrium.json': JSON.stringify(SERVER),
      },
      user: { 'plugins/greeter/skills/hello/SKILL.md': SKILL },
    });
    await fixture.entry('greeter');
    const rules = await fixture.entry('.agents/rules');
    expect(rules).toMatchObject({ type: 'directory', contents: 'rule', writable: true, load: { kind: 'loaded' } });
    expect(rules.children).toMatchObject([{ type: 'rule', name: 'style' }]);
    expect(await fixture.entry('.github/prompts')).toMatchObject({ contents: 'prompt', writable: false });
    expect((await fixture.entries()).map(({ name }) => name)).not.toContain('.agents/skills');
    const types = new Set((await fixture.entries()).map(({ type }) => type));
    expect([...types].sort()).toEqual(['directory', 'mcpServer', 'plugin']);
    const ids = (await fixture.entries()).flatMap(({ id, children = [] }) => [
      id,
      ...children.map((child) => child.id),
    ]);
    expect(new Set(ids).size).toBe(ids.length);
  });

  it('[CUS-068] [CUS-070] [CUS-071] [CUS-115] shows a configured server as an entry of its own, without how it is run', async () => {
    const fixture = await openCustomFixture({ project: { 'atrium.json': JSON.stringify(SERVER) } });
    const entry = await fixture.entry('notes');
    const file = pathToFileURL(path.join(fixture.folder, 'atrium.json')).href;
    expect(entry).toMatchObject({ type: 'mcpServer', uri: file, enabled: true, state: { kind: 'stopped' } });
    expect(Object.keys(entry).sort()).toEqual(['enabled', 'id', 'name', 'range', 'state', 'type', 'uri']);
    // Only who is asked whether it may start is shown how: nobody could judge it otherwise.
    const { inputRequests: _, ...state } = await fixture.state();
    const told = envelopesOf(fixture.client, fixture.uri).filter(
      ({ action }) => action.type !== 'session/inputRequested',
    );
    expect(JSON.stringify([state, told])).not.toMatch(/no-such-command-here|--secret/);
  });

  it('[CUS-115] does not say how a server is run when that fails either, on its own or in a plugin', async () => {
    const user = { 'plugins/tools/.mcp.json': JSON.stringify(SERVER) };
    const fixture = await openCustomFixture({ config: SERVER, user });
    await fixture.entry('notes', (entry) => entry.state?.kind === 'error');
    await fixture.entry('tools', ({ load }) => load?.kind === 'degraded');
    expect(JSON.stringify(fixture.client.received)).toContain('could not be started');
    expect(JSON.stringify(fixture.client.received)).not.toMatch(/no-such-command-here|--secret/);
  });

  it("[CUS-108] prefers the project's plugin of a name once the project is trusted, also while it is off", async () => {
    const plugin = (text: string) => ({ '.agents/plugins/greeter/skills/hello/SKILL.md': text });
    const user = { 'plugins/greeter/skills/hello/SKILL.md': SKILL };
    const open = (isTrusted: boolean) => openCustomFixture({ project: plugin(SKILL), user, isTrusted });
    const fixture = await open(true);
    const entry = await fixture.entry('greeter');
    expect(entry.uri).toBe(pathToFileURL(path.join(fixture.folder, '.agents/plugins/greeter')).href);
    fixture.toggle(entry.id, false);
    await fixture.entry('greeter', ({ enabled }) => !enabled);
    expect((await fixture.entries()).filter(({ name }) => name === 'greeter')).toHaveLength(1);
    const stranger = await open(false);
    const kept = await stranger.entry('greeter');
    expect(kept.uri).toBe(pathToFileURL(path.join(stranger.userFolder, 'plugins/greeter')).href);
  });

  it('takes plugins from the folders that a configuration names, one or many in each', async () => {
    const many = await tempFolder({ 'one/commands/a.md': 'A', 'two/commands/b.md': 'B' });
    const single = await tempFolder({ '.plugin/plugin.json': '{"name":"three"}', 'commands/c.md': 'C' });
    const fixture = await openCustomFixture({ config: { plugins: [many, single, path.join(many, 'missing')] } });
    for (const name of ['one', 'two', 'three'])
      expect(await fixture.entry(name)).toMatchObject({ load: { kind: 'loaded' } });
    expect(await fixture.entry('missing')).toMatchObject({ load: { kind: 'error' } });
  });

  it('reads nothing outside of a project that nobody trusts', async () => {
    const outside = await tempFolder({ 'commands/a.md': 'A' });
    const project = { 'atrium.json': JSON.stringify({ plugins: [outside, './inside'] }), 'inside/commands/b.md': 'B' };
    const fixture = await openCustomFixture({ project });
    await fixture.entry('inside');
    expect((await fixture.entries()).map(({ uri }) => uri)).not.toContain(pathToFileURL(outside).href);
  });

  it('shows again what could not be stored', async () => {
    const log = new FailingLog();
    const fixture = await openCustomFixture({ log, user: { 'plugins/greeter/commands/a.md': 'A' } });
    await fixture.entry('greeter', ({ children }) => children?.length === 1);
    log.isFull = true;
    await writeFile(path.join(fixture.userFolder, 'plugins/greeter/commands/b.md'), 'B');
    await expect.poll(() => fixture.warnings.join(), POLL).toContain('no space left');
    expect(await fixture.entry('greeter')).toMatchObject({ children: [{ name: 'a' }] });
    log.isFull = false;
    await fixture.entry('greeter', ({ children }) => children?.length === 2);
  });

  it('does not follow a link of a project that leads out of it', async () => {
    const outside = await openCustomFixture({ user: { 'plugins/greeter/skills/hello/SKILL.md': SKILL } });
    const fixture = await openCustomFixture();
    const target = path.join(outside.userFolder, 'plugins/greeter');
    await mkdir(path.join(fixture.folder, '.agents/plugins'), { recursive: true });
    await symlink(target, path.join(fixture.folder, '.agents/plugins/greeter'));
    expect(await fixture.entry('greeter')).toMatchObject({ load: { kind: 'error' } });
  });

  it('[CUS-113] names the same source by the same uri in every session', async () => {
    const fixture = await openCustomFixture({ user: { 'plugins/greeter/skills/hello/SKILL.md': SKILL } });
    const { uri } = await fixture.entry('greeter');
    const second = `ahp-session:/${crypto.randomUUID()}`;
    await fixture.client.session(second);
    const found = async () =>
      (await fixture.client.state<SessionState>(second)).customizations?.map((entry) => entry.uri);
    await expect.poll(found, POLL).toContain(uri);
  });

  it('keeps what was switched off, and corrects what is no longer true, when a session comes back', async () => {
    const config = { mcpServers: { notes: { command: process.execPath, args: [MCP_PROGRAM] } } };
    const fixture = await openCustomFixture({ config, user: { 'plugins/greeter/skills/hello/SKILL.md': SKILL } });
    const entry = await fixture.entry('greeter');
    fixture.toggle(entry.id, false);
    await fixture.entry('notes', ({ state }) => state?.kind === 'ready');
    await fixture.restart();
    expect(await fixture.entry('greeter')).toMatchObject({ id: entry.id, enabled: false });
    expect(await fixture.entry('notes', ({ state }) => state?.kind !== 'ready')).toMatchObject({
      state: { kind: 'stopped' },
    });
    const before = fixture.client.types(fixture.uri).length;
    await rm(path.join(fixture.userFolder, 'plugins/greeter'), { recursive: true });
    await expect.poll(async () => (await fixture.entries()).map(({ name }) => name), POLL).not.toContain('greeter');
    expect(fixture.client.types(fixture.uri).slice(before)).toContain('session/customizationRemoved');
  });
});
