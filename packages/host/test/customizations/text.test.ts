import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { type CompletionItem, commandSource } from '@atrium/protocol/ahp-1';
import { describe, expect, it } from 'vitest';
import { type CustomFixture, type CustomFixtureOptions, openCustomFixture } from '../support/custom-fixture.js';
import { refusalOf } from '../support/session-fixture.js';

const rule = (front: string, body: string) => `---\n${front}\n---\n${body}`;

const RULES = {
  'plugins/style/rules/always.md': rule('description: a\nalwaysApply: true', 'ALWAYS'),
  'plugins/style/rules/scripts.md': rule('description: b\nalwaysApply: true\nglobs: "src/**/*.ts"', 'SCRIPTS'),
  'plugins/style/rules/asked.md': rule('description: about naming', 'ASKED'),
  'plugins/style/rules/pages.md': rule('description: about pages\nglobs: "*.html"', 'PAGES'),
};

const SKILLS = {
  'plugins/deploy/skills/status/SKILL.md': rule('name: status\ndescription: Shows the state.', 'STATUS BODY'),
  'plugins/deploy/commands/ship.md': rule('description: Ships it.', 'SHIP $ARGUMENTS NOW'),
  'plugins/deploy/commands/hidden.md': rule('description: For people.\ndisable-model-invocation: true', 'HIDDEN'),
};

async function openTextFixture(options: CustomFixtureOptions, ...names: string[]): Promise<CustomFixture> {
  const fixture = await openCustomFixture(options);
  for (const name of names) await fixture.entry(name);
  return fixture;
}

async function instructions(fixture: CustomFixture, text?: string): Promise<string> {
  const { turn } = await fixture.turn(text);
  return (await turn.renderPrompt()).get('custom_instructions') ?? '';
}

describe('rules', { timeout: 30_000 }, () => {
  it('[CUS-041] are in every prompt when they always apply and name no files', async () => {
    const text = await instructions(await openTextFixture({ user: RULES }, 'style'));
    expect(text).toContain('ALWAYS');
    expect(text).not.toContain('SCRIPTS');
  });

  it('[CUS-041] with files are in the prompt only when such a file is in play', async () => {
    const fixture = await openTextFixture({ user: RULES, project: { 'src/deep/a.ts': '1', 'b.ts': '2' } }, 'style');
    const { turn } = await fixture.turn();
    const rendered = async () => (await turn.renderPrompt()).get('custom_instructions') ?? '';
    await turn.callTool({ name: 'read_file', input: { path: 'b.ts' } });
    expect(await rendered()).not.toContain('SCRIPTS');
    await turn.callTool({ name: 'read_file', input: { path: path.join(fixture.folder, 'src/deep/a.ts') } });
    expect(await rendered()).toContain('SCRIPTS');
  });

  it('[CUS-041] that do not always apply are named, those with files when such a file is in play', async () => {
    const fixture = await openTextFixture({ user: RULES, project: { 'web/index.html': '' } }, 'style');
    const { turn } = await fixture.turn();
    const rendered = async () => (await turn.renderPrompt()).get('custom_instructions') ?? '';
    expect(await rendered()).toContain('- style:asked: about naming');
    expect(await rendered()).not.toContain('ASKED');
    expect(await rendered()).not.toContain('style:pages');
    await turn.callTool({ name: 'read_file', input: { path: 'web/index.html' } });
    expect(await rendered()).toContain('- style:pages: about pages');
    const read = await turn.callTool({ name: 'use_skill', input: { name: 'style:pages' } });
    expect(read).toMatchObject({ success: true, text: 'PAGES' });
  });
});

describe('skills', { timeout: 30_000 }, () => {
  it('[CUS-042] are named to the model with their plugin, and read through a tool', async () => {
    const fixture = await openTextFixture({ user: SKILLS }, 'deploy');
    const { turn } = await fixture.turn();
    const text = (await turn.renderPrompt()).get('custom_instructions') ?? '';
    expect(text).toContain('- deploy:status: Shows the state.');
    expect(text).not.toContain('hidden');
    expect(await fixture.toolNames()).toContain('use_skill');
    const used = await turn.callTool({ name: 'use_skill', input: { name: 'deploy:status' } });
    expect(used).toMatchObject({ success: true, text: expect.stringContaining('STATUS BODY') });
    expect(used).toMatchObject({ text: expect.stringContaining(path.join('deploy', 'skills', 'status')) });
    const hidden = await turn.callTool({ name: 'use_skill', input: { name: 'deploy:hidden' } });
    expect(hidden).toMatchObject({ success: false });
  });

  it('[CUS-042] are used by people with a slash; only the model sees what that means', async () => {
    const fixture = await openTextFixture({ user: SKILLS }, 'deploy');
    const { turn } = await fixture.turn('/deploy:ship to $& production');
    expect(turn.context.join()).toContain('SHIP to $& production NOW');
    expect(JSON.stringify(await fixture.state())).not.toContain('SHIP to');
    expect((await fixture.state()).activeTurn?.userMessage.text).toBe('/deploy:ship to $& production');
  });

  it('are found by a short name when it can mean only one thing', async () => {
    const other = { 'plugins/extra/commands/ship.md': 'OTHER SHIP', 'plugins/extra/commands/only.md': 'ONLY ONE' };
    const fixture = await openTextFixture({ user: { ...SKILLS, ...other } }, 'deploy', 'extra');
    const said: string[] = [];
    for (const text of ['/only', '/ship', '/extra:ship', '/nothing', 'see /only', '/deploy:hidden']) {
      const { turn, turnId, finish } = await fixture.turn(text);
      said.push(turn.context.join());
      finish();
      await fixture.client.action(
        fixture.uri,
        (action) => action.type === 'session/turnComplete' && action.turnId === turnId,
      );
    }
    const expected = ['ONLY ONE', '', 'OTHER SHIP', '', '', 'HIDDEN'];
    for (const [index, text] of expected.entries()) {
      if (text === '') expect(said[index]).toBe('');
      else expect(said[index]).toContain(text);
    }
  });

  it('in a directory have no prefix, and prompts are used in the same way', async () => {
    const project = { '.agents/prompts/fix.prompt.md': rule('description: Fixes.', 'FIX IT') };
    const fixture = await openTextFixture({ project }, '.agents/prompts');
    const { turn } = await fixture.turn('/fix the build');
    expect(turn.context.join()).toContain('FIX IT\n\nArguments: the build');
  });
});

describe('commands of other tools', { timeout: 30_000 }, () => {
  it('[DAY-081] are offered with their folder, and take arguments as their authors wrote them', async () => {
    const project = {
      '.claude/commands/fix.md': rule('description: Fixes an issue.', 'FIX $1 IN $2. ALL: $ARGUMENTS'),
      '.opencode/command/ask.md': 'ASK {{args}}',
      '.claude/commands/notes.instructions.md': 'no command',
    };
    const fixture = await openTextFixture({ project }, '.claude/commands', '.opencode/command');
    const { turn, turnId, finish } = await fixture.turn('/fix 42 "the parser" $&');
    expect(turn.context.join()).toContain('FIX 42 IN the parser. ALL: 42 "the parser" $&');
    finish();
    await fixture.client.action(
      fixture.uri,
      (action) => action.type === 'session/turnComplete' && action.turnId === turnId,
    );
    const { turn: second } = await fixture.turn('/ask why?');
    expect(second.context.join()).toContain('ASK why?');
    const { items } = await fixture.client.request<{ items: CompletionItem[] }>('completions', {
      ...{ channel: fixture.uri, kind: 'userMessage', text: '/', offset: 1 },
    });
    const sources = items.map(({ insertText, attachment }) => [insertText.trim(), commandSource(attachment._meta)]);
    expect(sources.toSorted()).toEqual([
      ['/ask', '.opencode/command'],
      ['/fix', '.claude/commands'],
    ]);
  });
});

describe('agents', { timeout: 30_000 }, () => {
  const user = {
    'plugins/crew/agents/reviewer.md': rule(
      'name: reviewer\ndescription: Reviews.\ntools: Read, Grep',
      'You only review.',
    ),
  };

  async function openAgentFixture() {
    const fixture = await openTextFixture({ user, project: { 'a.txt': 'alpha' } }, 'crew');
    const uri = pathToFileURL(path.join(fixture.userFolder, 'plugins/crew/agents/reviewer.md')).href;
    return { fixture, uri };
  }

  it('[CUS-116] are children of their container, and speak in the prompt when they are selected', async () => {
    const { fixture, uri } = await openAgentFixture();
    expect((await fixture.entry('crew')).children).toMatchObject([{ type: 'agent', name: 'reviewer', uri }]);
    expect(
      await refusalOf(fixture.client, fixture.uri, { type: 'session/agentChanged', agent: { uri } } as never),
    ).toBeUndefined();
    expect(await instructions(fixture)).toContain('You only review.');
  });

  it('use only the tools that their file names', async () => {
    const { fixture, uri } = await openAgentFixture();
    await refusalOf(fixture.client, fixture.uri, { type: 'session/agentChanged', agent: { uri } } as never);
    const { turn } = await fixture.turn();
    const read = await turn.callTool({ name: 'read_file', input: { path: 'a.txt' } });
    expect(read).toMatchObject({ kind: 'completed', success: true });
    expect(await turn.callTool({ name: 'shell', input: { command: 'true' } })).toMatchObject({ kind: 'denied' });
  });

  it('[CUS-118] cannot be selected while their container is off, and say nothing then', async () => {
    const { fixture, uri } = await openAgentFixture();
    const select = { type: 'session/agentChanged', agent: { uri } } as never;
    expect(await refusalOf(fixture.client, fixture.uri, select)).toBeUndefined();
    const { id } = await fixture.entry('crew');
    fixture.toggle(id, false);
    await fixture.entry('crew', ({ enabled }) => !enabled);
    expect(await refusalOf(fixture.client, fixture.uri, select)).toContain('switched off');
    expect(await instructions(fixture)).not.toContain('You only review.');
  });
});

describe('a container that is off', { timeout: 30_000 }, () => {
  it('[CUS-118] [CUS-119] [AHP-194] applies no rule and offers no skill; on again, it does', async () => {
    const fixture = await openTextFixture({ user: { ...RULES, ...SKILLS } }, 'style', 'deploy');
    const ids = [(await fixture.entry('style')).id, (await fixture.entry('deploy')).id];
    for (const id of ids) fixture.toggle(id, false);
    await fixture.entry('style', ({ enabled }) => !enabled);
    const { turn, finish } = await fixture.turn('/deploy:ship it');
    expect((await turn.renderPrompt()).get('custom_instructions') ?? '').toBe('');
    expect(turn.context).toEqual([]);
    expect(await fixture.toolNames()).not.toContain('use_skill');
    expect((await fixture.entry('style')).children).toHaveLength(4);
    finish();
    await fixture.client.action(fixture.uri, 'session/turnComplete');
    for (const id of ids) fixture.toggle(id, true);
    await fixture.entry('deploy', ({ enabled }) => enabled);
    const again = await fixture.turn('/deploy:ship it');
    expect(again.turn.context.join()).toContain('SHIP it NOW');
    expect((await again.turn.renderPrompt()).get('custom_instructions')).toContain('ALWAYS');
  });
});
