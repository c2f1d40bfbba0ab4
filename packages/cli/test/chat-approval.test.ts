/** What a person is asked in a terminal is the whole of what runs. */
import { existsSync } from 'node:fs';
import { readdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { answer, openChat, openRealChat, PROMPT, say, TYPING_GUARD_MS } from './support/chat.js';
import { isBuilt, newFolder, sharedHost, startHost } from './support/host.js';
import { hasTmux } from './support/terminal.js';

const pause = () => new Promise((resolve) => setTimeout(resolve, TYPING_GUARD_MS));

describe.skipIf(!isBuilt)('approvals in a chat (skipped unless it has been built)', { timeout: 60_000 }, () => {
  const shared = sharedHost();
  const chat = () => openChat('chat', { host: shared() });

  it.skipIf(!hasTmux)(
    '[REL-051] shows what stands behind an escape sequence that never ends (needs tmux)',
    async () => {
      const { terminal, folder } = await openRealChat('chat', { host: shared() });
      await terminal.sees(PROMPT);
      await say(terminal, 'hidden command');
      const asked = await terminal.sees(/y Run/);
      expect(asked).toMatch(/command: 2 lines\n│ ls -la \\x1b\]\n│ touch PWNED\n/);
      await answer(terminal, 'n');
      await terminal.sees(/denied[\s\S]*Done\./);
      expect(existsSync(path.join(folder, 'PWNED'))).toBe(false);
    },
  );

  it('[REL-051] takes a yes to a long command only after its end was on the screen', async () => {
    const { terminal, folder } = await chat();
    await terminal.sees(PROMPT);
    await say(terminal, 'long command');
    const first = await terminal.sees(/lines 1 to \d+ of 44: read to the end to answer/);
    expect(first).toContain('command: 42 lines');
    expect(first).not.toMatch(/y Run|│ touch PWNED/);
    for (const key of ['y', 'a', '1', 'e', 'Enter']) await answer(terminal, key);
    await terminal.sees(/lines 1 to \d+ of 44: read to the end to answer/);
    expect(existsSync(path.join(folder, 'PWNED'))).toBe(false);
    terminal.keys('PageDown');
    await terminal.sees(/│ touch PWNED\n {2}lines \d+ to 44 of 44\n[^\n]*y Run/);
    terminal.keys('y');
    await terminal.sees(/✓ Shell[\s\S]*Done\./);
    expect(existsSync(path.join(folder, 'PWNED'))).toBe(true);
  });

  it('asks about a plan as a plan, without the name of the tool behind it [DAY-115]', async () => {
    const script = path.join(await newFolder(shared()), 'script.json');
    const plan = '# Steps\n\n1. Read it';
    const prompts = { plan: [{ callTool: { name: 'present_plan', input: { plan } } }, { text: 'Over.' }] };
    await writeFile(script, JSON.stringify({ provider: 'mock', displayName: 'Mock', prompts }));
    const { terminal } = await openChat('chat', { host: await startHost([], undefined, script) });
    await terminal.sees(PROMPT);
    await say(terminal, '/plan plan');
    await terminal.sees(/Plan mode/);
    const asked = await terminal.sees(/y Accept, and ask before changes[\s\S]*e edit the plan · d/);
    expect(asked).toMatch(/\? Start the work with this plan\?\n {2}Steps\n\s*\n {2}1\. Read it\n/);
    expect(asked).not.toContain('present_plan');
    await answer(terminal, 'n');
    await terminal.sees(/Over\./);
  });

  it('[UP-253] [REL-051] shows an input that the host names by reference to its end before it takes a yes', async () => {
    const folder = await newFolder(shared());
    const script = path.join(folder, 'script.json');
    const lines = Array.from({ length: 1_300 }, (_, index) => `: ${index} ${'x'.repeat(50)}`);
    const command = ['echo start', ...lines, 'touch DONE'].join('\n');
    const prompts = { large: [{ callTool: { name: 'shell', input: { command } } }, { text: 'Done.' }] };
    await writeFile(script, JSON.stringify({ provider: 'mock', displayName: 'Mock', prompts }));
    const { terminal, folder: work } = await openChat('chat', { host: await startHost([], undefined, script) });
    await terminal.sees(PROMPT);
    await say(terminal, 'large');
    const first = await terminal.sees(/lines 1 to \d+ of 1305: read to the end to answer/);
    expect(first).toContain('command: 1302 lines');
    expect(first).not.toMatch(/y Run/);
    await answer(terminal, 'y');
    await terminal.sees(/lines 1 to \d+ of 1305: read to the end to answer/);
    expect(existsSync(path.join(work, 'DONE'))).toBe(false);
    // Everything goes to the scrollback, and the question shows its end.
    terminal.keys('v');
    await terminal.sees(/│ touch DONE\n {2}lines \d+ to 1305 of 1305\n[^\n]*y Run/);
    expect(await terminal.everything()).toContain(': 640 xxx');
    terminal.keys('Home');
    await terminal.sees(/lines 1 to \d+ of 1305/);
    terminal.keys('End');
    await terminal.sees(/lines \d+ to 1305 of 1305\n[^\n]*y Run/);
    terminal.keys('y');
    await terminal.sees(/✓ Shell[\s\S]*Done\./);
    expect(existsSync(path.join(work, 'DONE'))).toBe(true);
  });

  it('[REL-051] takes no yes in a window that cuts its lines off', async () => {
    const { terminal, folder } = await chat();
    await terminal.sees(PROMPT);
    await say(terminal, 'hidden command');
    await terminal.sees(/y Run/);
    terminal.resize(14, 40);
    await terminal.sees(/Make the w/);
    await answer(terminal, 'y');
    terminal.resize(90, 30);
    await terminal.sees(/│ touch PWNED\n[^\n]*y Run/);
    expect(existsSync(path.join(folder, 'PWNED'))).toBe(false);
    await answer(terminal, 'n');
    await terminal.sees(/denied/);
  });

  it('[REL-051] shows the whole of a file that would be written, and its real name', async () => {
    const { terminal, folder } = await chat();
    await terminal.sees(PROMPT);
    await say(terminal, 'hidden write');
    const asked = await terminal.sees(/y Allow/);
    expect(asked).toMatch(/\n {2}a\\u\{202e\}gpj\.sh {2}\+2 -0\n/);
    expect(asked).toMatch(/\+ echo hi \\x1bP\n {2}\+ rm -rf everything\n/);
    await answer(terminal, 'n');
    await terminal.sees(/denied[\s\S]*Done\./);
    expect(await readdir(folder)).toEqual([]);
  });

  it('[REL-053] spells out what a folder that asks for trust would start, and takes no Enter for a yes', async () => {
    const { terminal } = await openChat('chat', {
      host: shared(),
      prepare: (folder) =>
        writeFile(
          path.join(folder, 'atrium.json'),
          JSON.stringify({ providers: { p: { command: 'node', args: ['a.js', '\u001b]0;', 'rm', '\u202e'] } } }),
        ),
    });
    const asked = await terminal.sees(/Do you trust this folder[\s\S]*y yes/);
    expect(asked).toContain('node a.js "\\x1b]0;" rm "\\u{202e}"');
    terminal.keys('Enter');
    await pause();
    expect(await terminal.screen()).toMatch(/Do you trust this folder/);
  });

  it('[REL-052] sends what was written against a call as a denial', async () => {
    const { terminal, folder } = await chat();
    await terminal.sees(PROMPT);
    await say(terminal, 'hidden command');
    await terminal.sees(/y Run/);
    await answer(terminal, 'd');
    await terminal.sees(/why not>/);
    terminal.type('y');
    await terminal.sees(/why not> y/);
    terminal.keys('Enter');
    await terminal.sees(/denied: y[\s\S]*Done\./);
    expect(existsSync(path.join(folder, 'PWNED'))).toBe(false);
  });

  it('shows a question of the agent once, with its choices', async () => {
    const { terminal } = await chat();
    await terminal.sees(PROMPT);
    await say(terminal, 'ask the person');
    const asked = await terminal.sees(/1 Small\n {2}2 Large\n/);
    expect(asked.match(/Which size\?/g)).toHaveLength(1);
    expect(asked).not.toContain('{');
    await pause();
    terminal.keys('Enter');
    await terminal.sees(/Which size\? Small[\s\S]*Done\./);
  });
});
