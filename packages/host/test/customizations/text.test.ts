import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, it } from 'vitest';
import { type CustomRoom, type CustomRoomOptions, openCustomRoom } from '../support/custom-room.js';
import { refusalOf } from '../support/session-room.js';

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

async function openTextRoom(options: CustomRoomOptions, ...names: string[]): Promise<CustomRoom> {
  const room = await openCustomRoom(options);
  for (const name of names) await room.entry(name);
  return room;
}

async function instructions(room: CustomRoom, text?: string): Promise<string> {
  const { turn } = await room.turn(text);
  return (await turn.renderPrompt()).get('custom_instructions') ?? '';
}

describe('rules', { timeout: 30_000 }, () => {
  it('[CUS-041] are in every prompt when they always apply and name no files', async () => {
    const text = await instructions(await openTextRoom({ user: RULES }, 'style'));
    expect(text).toContain('ALWAYS');
    expect(text).not.toContain('SCRIPTS');
  });

  it('[CUS-041] with files are in the prompt only when such a file is in play', async () => {
    const room = await openTextRoom({ user: RULES, project: { 'src/deep/a.ts': '1', 'b.ts': '2' } }, 'style');
    const { turn } = await room.turn();
    const rendered = async () => (await turn.renderPrompt()).get('custom_instructions') ?? '';
    await turn.callTool({ name: 'read_file', input: { path: 'b.ts' } });
    expect(await rendered()).not.toContain('SCRIPTS');
    await turn.callTool({ name: 'read_file', input: { path: path.join(room.folder, 'src/deep/a.ts') } });
    expect(await rendered()).toContain('SCRIPTS');
  });

  it('[CUS-041] that do not always apply are named, those with files when such a file is in play', async () => {
    const room = await openTextRoom({ user: RULES, project: { 'web/index.html': '' } }, 'style');
    const { turn } = await room.turn();
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
    const room = await openTextRoom({ user: SKILLS }, 'deploy');
    const { turn } = await room.turn();
    const text = (await turn.renderPrompt()).get('custom_instructions') ?? '';
    expect(text).toContain('- deploy:status: Shows the state.');
    expect(text).not.toContain('hidden');
    expect(await room.toolNames()).toContain('use_skill');
    const used = await turn.callTool({ name: 'use_skill', input: { name: 'deploy:status' } });
    expect(used).toMatchObject({ success: true, text: expect.stringContaining('STATUS BODY') });
    expect(used).toMatchObject({ text: expect.stringContaining(path.join('deploy', 'skills', 'status')) });
    const hidden = await turn.callTool({ name: 'use_skill', input: { name: 'deploy:hidden' } });
    expect(hidden).toMatchObject({ success: false });
  });

  it('[CUS-042] are used by people with a slash; only the model sees what that means', async () => {
    const room = await openTextRoom({ user: SKILLS }, 'deploy');
    const { turn } = await room.turn('/deploy:ship to $& production');
    expect(turn.context.join()).toContain('SHIP to $& production NOW');
    expect(JSON.stringify(await room.state())).not.toContain('SHIP to');
    expect((await room.state()).activeTurn?.userMessage.text).toBe('/deploy:ship to $& production');
  });

  it('are found by a short name when it can mean only one thing', async () => {
    const other = { 'plugins/extra/commands/ship.md': 'OTHER SHIP', 'plugins/extra/commands/only.md': 'ONLY ONE' };
    const room = await openTextRoom({ user: { ...SKILLS, ...other } }, 'deploy', 'extra');
    const said: string[] = [];
    for (const text of ['/only', '/ship', '/extra:ship', '/nothing', 'see /only', '/deploy:hidden']) {
      const { turn, turnId, finish } = await room.turn(text);
      said.push(turn.context.join());
      finish();
      await room.desk.action(room.uri, (action) => action.type === 'session/turnComplete' && action.turnId === turnId);
    }
    const expected = ['ONLY ONE', '', 'OTHER SHIP', '', '', 'HIDDEN'];
    for (const [index, text] of expected.entries()) {
      if (text === '') expect(said[index]).toBe('');
      else expect(said[index]).toContain(text);
    }
  });

  it('in a directory have no prefix, and prompts are used in the same way', async () => {
    const project = { '.agents/prompts/fix.prompt.md': rule('description: Fixes.', 'FIX IT') };
    const room = await openTextRoom({ project }, '.agents/prompts');
    const { turn } = await room.turn('/fix the build');
    expect(turn.context.join()).toContain('FIX IT\n\nArguments: the build');
  });
});

describe('agents', { timeout: 30_000 }, () => {
  const user = {
    'plugins/crew/agents/reviewer.md': rule(
      'name: reviewer\ndescription: Reviews.\ntools: Read, Grep',
      'You only review.',
    ),
  };

  async function openAgentRoom() {
    const room = await openTextRoom({ user, project: { 'a.txt': 'alpha' } }, 'crew');
    const uri = pathToFileURL(path.join(room.userFolder, 'plugins/crew/agents/reviewer.md')).href;
    return { room, uri };
  }

  it('[CUS-116] are children of their container, and speak in the prompt when they are selected', async () => {
    const { room, uri } = await openAgentRoom();
    expect((await room.entry('crew')).children).toMatchObject([{ type: 'agent', name: 'reviewer', uri }]);
    expect(
      await refusalOf(room.desk, room.uri, { type: 'session/agentChanged', agent: { uri } } as never),
    ).toBeUndefined();
    expect(await instructions(room)).toContain('You only review.');
  });

  it('use only the tools that their file names', async () => {
    const { room, uri } = await openAgentRoom();
    await refusalOf(room.desk, room.uri, { type: 'session/agentChanged', agent: { uri } } as never);
    const { turn } = await room.turn();
    const read = await turn.callTool({ name: 'read_file', input: { path: 'a.txt' } });
    expect(read).toMatchObject({ kind: 'completed', success: true });
    expect(await turn.callTool({ name: 'shell', input: { command: 'true' } })).toMatchObject({ kind: 'denied' });
  });

  it('[CUS-118] cannot be selected while their container is off, and say nothing then', async () => {
    const { room, uri } = await openAgentRoom();
    const select = { type: 'session/agentChanged', agent: { uri } } as never;
    expect(await refusalOf(room.desk, room.uri, select)).toBeUndefined();
    const { id } = await room.entry('crew');
    room.toggle(id, false);
    await room.entry('crew', ({ enabled }) => !enabled);
    expect(await refusalOf(room.desk, room.uri, select)).toContain('switched off');
    expect(await instructions(room)).not.toContain('You only review.');
  });
});

describe('a container that is off', { timeout: 30_000 }, () => {
  it('[CUS-118] [CUS-119] [AHP-194] applies no rule and offers no skill; on again, it does', async () => {
    const room = await openTextRoom({ user: { ...RULES, ...SKILLS } }, 'style', 'deploy');
    const ids = [(await room.entry('style')).id, (await room.entry('deploy')).id];
    for (const id of ids) room.toggle(id, false);
    await room.entry('style', ({ enabled }) => !enabled);
    const { turn, finish } = await room.turn('/deploy:ship it');
    expect((await turn.renderPrompt()).get('custom_instructions') ?? '').toBe('');
    expect(turn.context).toEqual([]);
    expect(await room.toolNames()).not.toContain('use_skill');
    expect((await room.entry('style')).children).toHaveLength(4);
    finish();
    await room.desk.action(room.uri, 'session/turnComplete');
    for (const id of ids) room.toggle(id, true);
    await room.entry('deploy', ({ enabled }) => enabled);
    const again = await room.turn('/deploy:ship it');
    expect(again.turn.context.join()).toContain('SHIP it NOW');
    expect((await again.turn.renderPrompt()).get('custom_instructions')).toContain('ALWAYS');
  });
});
