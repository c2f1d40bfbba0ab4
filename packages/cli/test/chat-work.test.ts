import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { answer, isClean, openChat, openRealChat, PROMPT, say, startIn } from './support/chat.js';
import { isBuilt, newFolder, SERVE, sharedHost, startHostProcess, type TestHost } from './support/host.js';
import { git, newRepository } from './support/repository.js';
import { hasTmux } from './support/terminal.js';

async function newestMessage(host: TestHost): Promise<{ text: string; attachments?: unknown[] }> {
  const { stdout } = await host.run(['sessions', 'show', 'last', '--json']);
  return JSON.parse(stdout).turns.at(-1).message;
}

describe.skipIf(!isBuilt)('work in a chat (skipped unless it has been built)', { timeout: 60_000 }, () => {
  const shared = sharedHost();
  const chat = (args = 'chat', prepare?: (folder: string) => Promise<void>) =>
    openChat(args, { host: shared(), ...(prepare && { prepare }) });

  it('[CLI-026] says what a turn changed, shows it, and takes it back only after a yes', async () => {
    const { terminal, folder } = await chat('chat --config autoApprove=true', newRepository);
    await terminal.sees(PROMPT);
    await say(terminal, 'edit two');
    await terminal.sees(/※ 2 files changed \(\+3 −1\): \/changes\n\n> write/);
    await say(terminal, '/changes');
    await terminal.sees(/Last turn: 2 files \(\+3 −1\)\n {2}M note\.txt {4}\+2 −1\n {2}A src\/new\.js {2}\+1 −0\n/);
    await say(terminal, '/diff note.txt');
    await terminal.sees(/@@ -1,2 \+1,3 @@\n one\n-two\n\+TWO\n\+three\n\n> write/);
    await say(terminal, '/revert');
    await terminal.sees(/\? Take back what the agent changed here\?[\s\S]*2 files \(\+3 −1\)\n {2}y yes · n no/);
    await answer(terminal, 'n');
    await terminal.sees(/※ Nothing was changed\./);
    expect(await readFile(path.join(folder, 'note.txt'), 'utf8')).toContain('TWO');
    await say(terminal, '/revert note.txt');
    await terminal.sees(/\? Take back[\s\S]*note\.txt\n {2}y yes · n no/);
    await answer(terminal, 'y');
    await terminal.sees(/※ Took back 1 file\. \/undo puts it back\./);
    expect(await readFile(path.join(folder, 'note.txt'), 'utf8')).toBe('one\ntwo\n');
    await say(terminal, '/undo');
    await terminal.sees(/※ Put back 1 file\.\n/);
    expect(await readFile(path.join(folder, 'note.txt'), 'utf8')).toContain('TWO');
  });

  it('stages, commits and discards, and says so where there is nothing to do', async () => {
    const { terminal, folder } = await chat('chat', newRepository);
    await terminal.sees(PROMPT);
    await say(terminal, '/discard');
    await terminal.sees(/※ Not done: there is nothing to discard: nothing is changed there/);
    await say(terminal, '/changes nonsense');
    await terminal.sees(/※ There is no "nonsense"\. There are: turn, session, uncommitted\./);
    await writeFile(path.join(folder, 'note.txt'), 'one\n');
    await writeFile(path.join(folder, 'more.txt'), 'more\n');
    await say(terminal, '/stage more.txt');
    await terminal.sees(/※ Staged 1 file\./);
    await say(terminal, '/commit');
    await terminal.sees(/\? Commit message\n {2}> New session\n/);
    await answer(terminal, 'C-c');
    await terminal.sees(/\(declined\)\n\n※ Nothing was committed\.\n/);
    await say(terminal, '/commit');
    await terminal.sees(/Nothing was committed[\s\S]*\? Commit message\n/);
    await answer(terminal, 'C-u');
    terminal.type('More of it');
    terminal.keys('Enter');
    await terminal.sees(/※ Committed\.\n/);
    expect(git(folder, 'log', '-1', '--format=%s', '--name-only')).toBe('More of it\n\nmore.txt');
    await say(terminal, '/discard note.txt');
    await terminal.sees(/\? Discard these changes[\s\S]*y yes · n no/);
    await answer(terminal, 'y');
    await terminal.sees(/※ Discarded the changes of 1 file\. \/undo puts it back\./);
    expect(git(folder, 'status', '--short')).toBe('');
  });

  it('lists the folder and shows files, also in a narrow window', async () => {
    const { terminal, folder } = await chat('chat', newRepository);
    await terminal.sees(PROMPT);
    terminal.resize(40, 24);
    const many = Array.from({ length: 250 }, (_, index) => `row ${index + 1}`);
    await writeFile(path.join(folder, 'long.txt'), `${many.join('\n')}\n`);
    await say(terminal, '/files');
    await terminal.sees(/ 4 entries\n {2}\.git\/ {5}src\/ {6}long\.txt {2}note\.txt\n/);
    await say(terminal, '/open src/parser.js');
    await terminal.sees(/src\/parser\.js {2}3 lines\n1 export function parseLine\(text\) \{\n2 {3}return text;\n/);
    await say(terminal, '/open long.txt:20');
    await terminal.sees(/219 row 219\n… 31 more lines: \/open long\.txt:220\n/);
    await say(terminal, '/open nowhere.txt');
    await terminal.sees(/※ Not done:[\s\S]*does not exist\n/);
    await say(terminal, '/open /etc/hostname');
    await terminal.sees(/※ Not done: no access to[\s\S]*folders\s+of\s+its\s+sessions\s+only\n/);
  });

  it('`atrium` alone is a chat [DAY-112], and /open starts the editor at the line [DAY-101]', async () => {
    const host = shared();
    const folder = await newFolder(host);
    const editor = path.join(folder, 'nano');
    await writeFile(editor, `#!/bin/sh\nprintf '%s ' "$@" > '${folder}/opened'\n`, { mode: 0o755 });
    await writeFile(path.join(folder, 'a b.txt'), 'one\n');
    const { terminal } = startIn({ host: { ...host, env: { ...host.env, EDITOR: `"${editor}"` } }, folder, args: '' });
    await terminal.sees(PROMPT);
    await say(terminal, '/open a b.txt:7');
    await expect
      .poll(() => readFile(path.join(folder, 'opened'), 'utf8').catch(() => ''), { timeout: 10_000 })
      .toBe(`+7 ${folder}/a b.txt `);
    await say(terminal, '/open nowhere.txt:1');
    await terminal.sees(/※ Not done: nowhere\.txt:1 does not exist\n/);
    await say(terminal, '/settings');
    await terminal.sees(/ default\n[\s\S]*Change the first ones in the page/);
    await say(terminal, '/instructions');
    await terminal.sees(/※ No AGENTS\.md or CLAUDE\.md is read here\./);
    await writeFile(path.join(folder, 'AGENTS.md'), 'Say please.\n'.repeat(200));
    await say(terminal, '/instructions');
    await terminal.sees(/AGENTS\.md +2\.3 KiB/);
  });

  it('[CLI-027] completes files, symbols and skills with Tab, and sends what the host gave along', async () => {
    const prepare = async (folder: string) => {
      await newRepository(folder);
      const skill = path.join(folder, '.agents', 'skills', 'deploy');
      await mkdir(skill, { recursive: true });
      await writeFile(path.join(skill, 'SKILL.md'), '---\nname: deploy\ndescription: Deploys it\n---\nDo it.\n');
    };
    const { terminal, host, folder } = await chat('chat', prepare);
    await terminal.sees(PROMPT);
    terminal.type('see @note');
    await terminal.sees(/> see @note\n {2}@note\.txt {2}document {2}\(Tab\)\n/);
    terminal.keys('Tab');
    await terminal.sees(/> see @note\.txt\s*\n/);
    terminal.type('and #parseL');
    terminal.keys('Tab');
    await terminal.sees(/> see @note\.txt and #parseLine\s*\n/);
    terminal.keys('Enter');
    await terminal.sees(/ {2}\+ note\.txt\n {2}\+ parseLine \(function in src\/parser\.js\)\n\nYou said: see/);
    expect(await newestMessage(host)).toMatchObject({
      attachments: [{ uri: expect.stringMatching(/note\.txt$/) }, { displayKind: 'symbol' }],
    });
    terminal.type('/depl');
    terminal.keys('Tab');
    await terminal.sees(/> \/deploy\s*\n/);
    terminal.keys('Enter');
    await terminal.sees(/You said: \/deploy/);
    const { resource } = JSON.parse((await host.run(['sessions', 'list', '--json'])).stdout)[0];
    const params = { channel: resource, kind: 'userMessage', text: '/depl', offset: 5 };
    const { stdout } = await host.run(['call', 'completions', JSON.stringify(params)]);
    const [offered] = JSON.parse(stdout).items;
    expect(offered.attachment._meta).toMatchObject({ uri: expect.stringContaining(path.basename(folder)) });
    expect((await newestMessage(host)).attachments).toEqual([offered.attachment]);
  });

  it.skipIf(!hasTmux)('goes into the terminal of a command, and comes back with Ctrl+] (needs tmux)', async () => {
    const { terminal } = await openRealChat('chat', { host: shared() });
    await terminal.sees(PROMPT);
    await say(terminal, 'wait for a word');
    await terminal.sees(/asks you/);
    await answer(terminal, 'y');
    await terminal.sees(/● Shell[^\n]*\n {2}ready\n {2}\/terminal or Ctrl\+T goes into its terminal\n/);
    await say(terminal, '/terminal');
    await terminal.sees(/Ctrl\+\] leaves the terminal; it goes on without you\.\nready$/);
    terminal.keys('C-]');
    await terminal.sees(/Left the terminal\.[\s\S]*● Shell[\s\S]*> write to queue/);
    terminal.keys('C-t');
    await terminal.sees(/Left the terminal[\s\S]*leaves the terminal[^\n]*\nready$/);
    terminal.type('hello');
    terminal.keys('Enter');
    await terminal.sees(/The terminal has ended \(0\)[\s\S]*It said: [\s\S]*got hello[\s\S]*> write a message/);
    await say(terminal, '/quit');
    await terminal.sees(/To go on/);
    await isClean(terminal);
  });

  it('[UP-139] puts a command into the background, and lists it until it ends', async () => {
    const { terminal, folder } = await chat('chat --config autoApprove=true');
    await terminal.sees(PROMPT);
    await say(terminal, '/background');
    await terminal.sees(/※ Nothing runs in the background\. \/detach puts a running command there\./);
    await say(terminal, 'until told');
    await terminal.sees(/goes into its terminal/);
    await say(terminal, '/detach');
    await terminal.sees(/\n {2}1 in the background \(\/background\): until \[ -e go \]/);
    await say(terminal, '/background');
    await terminal.sees(/\n {2}\/terminal [\w-]{8} {2}\d+s ago {2}until \[ -e go \]; do sleep 0\.1; done\n/);
    await writeFile(path.join(folder, 'go'), '');
    await terminal.sees(/sleep 0\.1; done\n\n> write a message\n/);
  });

  it('says in the terminal of a command that the host is gone', async () => {
    const host = await startHostProcess();
    const { terminal } = await openChat('chat --config autoApprove=true wait for a word', { host });
    await terminal.sees(/goes into its terminal/);
    terminal.keys('C-t');
    await terminal.sees(/Ctrl\+\] leaves the terminal[\s\S]*ready/);
    host.serve.child.kill('SIGKILL');
    await terminal.sees(/The host is gone\. Ctrl\+\] leaves\./);
    terminal.keys('C-]');
    await terminal.sees(/Left the terminal\.[\s\S]*no connection/);
    await host.start(SERVE).says(/READY/);
    await terminal.sees(/The host is back\./);
  });
});
