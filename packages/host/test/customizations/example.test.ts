import { cp } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { openCustomFixture, POLL, PromptPuppet } from '../support/custom-fixture.js';

const EXAMPLE = fileURLToPath(new URL('../../../../examples/plugins/release-helper', import.meta.url));
/** An agent, two skills, a rule, a hook and a server. */
const CHILDREN = 6;

async function openExampleFixture() {
  const fixture = await openCustomFixture({ project: { 'CHANGELOG.md': '# Changes' } });
  await cp(EXAMPLE, path.join(fixture.userFolder, 'plugins/release-helper'), { recursive: true });
  const isReady = (kind?: string) => kind === 'ready';
  // The host may look while the files are still being copied, and looks again when they are there.
  const entry = await fixture.entry(
    'release-helper',
    ({ children = [] }) => children.length >= CHILDREN && children.some(({ state }) => isReady(state?.kind)),
  );
  return { fixture, entry };
}

describe('the example plugin', { timeout: 30_000 }, () => {
  it('has one of everything, and nothing is wrong with it', async () => {
    const { entry } = await openExampleFixture();
    expect(entry.load).toEqual({ kind: 'loaded' });
    const names = entry.children?.map(({ type, name }) => `${type} ${name}`);
    expect(names).toEqual([
      ...['agent release-manager', 'skill release', 'skill release-notes', 'rule changelog'],
      ...['hook PreToolUse 1', 'mcpServer versions'],
    ]);
  });

  it('works: its rule, command, hook and server', async () => {
    const { fixture } = await openExampleFixture();
    const { turn } = await fixture.turn('/release-helper:release 1.2.0');
    expect(turn.context.join()).toContain('Prepare the release of version 1.2.0');
    await turn.callTool({ name: 'read_file', input: { path: 'CHANGELOG.md' } });
    expect((await turn.renderPrompt()).get('custom_instructions')).toContain('The changelog is for people');
    const pushed = await turn.callTool({ name: 'shell', input: { command: 'git push --force origin main' } });
    expect(pushed).toMatchObject({ kind: 'denied', reason: expect.stringContaining('--force-with-lease') });
    const name = 'mcp__plugin_release-helper_versions__next_version';
    const next = await turn.callTool({ name, input: { version: '1.4.2', change: 'minor' } });
    expect(next).toMatchObject({ success: true, text: '1.5.0' });
  });
});

describe('containers that an agent declares', { timeout: 30_000 }, () => {
  it('[AHP-187] are resolved against the folder of the session, and read', async () => {
    const declared = { type: 'directory', id: 'own', uri: 'docs/rules', name: 'Rules', enabled: true } as const;
    const agent = new PromptPuppet('puppet', { customizations: [{ ...declared, contents: 'rule', writable: false }] });
    const rule = '---\ndescription: d\nalwaysApply: true\n---\nDECLARED';
    const fixture = await openCustomFixture({ agent, project: { 'docs/rules/a.md': rule } });
    const entry = await fixture.entry('Rules');
    expect(entry).toMatchObject({ id: 'own', load: { kind: 'loaded' }, children: [{ type: 'rule', name: 'a' }] });
    const { turn } = await fixture.turn();
    await expect.poll(async () => (await turn.renderPrompt()).get('custom_instructions'), POLL).toContain('DECLARED');
  });

  it('[CUS-057] run nothing that lies in the folder of the session before somebody trusts it', async () => {
    const declared = { type: 'plugin', id: 'own', uri: 'tools/guard', name: 'Guard', enabled: true } as const;
    const hooks = { hooks: { PreToolUse: [{ hooks: [{ command: 'exit 2' }] }] } };
    const project = { 'a.txt': 'alpha', 'tools/guard/hooks/hooks.json': JSON.stringify(hooks) };
    const fixture = await openCustomFixture({
      agent: new PromptPuppet('puppet', { customizations: [declared] }),
      project,
    });
    await fixture.entry('guard');
    const { turn } = await fixture.turn();
    const read = { name: 'read_file', input: { path: 'a.txt' } };
    expect(await turn.callTool(read)).toMatchObject({ kind: 'completed', success: true });
    expect(await fixture.answer('accept')).toContain('hook PreToolUse of plugin guard in ./tools/guard: ');
    await expect.poll(async () => (await turn.callTool(read)).kind, POLL).toBe('denied');
  });
});
