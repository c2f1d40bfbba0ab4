/** `atrium rewind`, and /rewind, /undo and /redo in a chat. */
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { answer, openChat, PROMPT, say } from './support/chat.js';
import { isBuilt, newFolder, sharedHost } from './support/host.js';
import { newRepository } from './support/repository.js';

describe.skipIf(!isBuilt)('going back (skipped unless it has been built)', { timeout: 60_000 }, () => {
  const shared = sharedHost();

  it('shows what would change, goes back after a yes, and takes that back [DAY-060] [DAY-061] [DAY-062]', async () => {
    const host = shared();
    const folder = await newFolder(host);
    await newRepository(folder);
    const note = () => readFile(path.join(folder, 'note.txt'), 'utf8');
    await host.run(['run', '--cwd', folder, '--approve', 'all', 'edit two']);
    await host.run(['run', '--session', 'last', 'hello']);
    const dry = await host.run(['rewind', 'last', '1', '--dry-run']);
    expect(dry.stdout).toBe(
      'Back to before "edit two"\n  Takes out 2 turns; a fork keeps what was said.\n  Puts back 2 files:\n' +
        '    M note.txt  +1 -2\n    D src/new.js  +0 -1\n',
    );
    const json = JSON.parse((await host.run(['rewind', 'last', 'last', '--dry-run', '--json'])).stdout);
    expect(json).toMatchObject({ turns: 1, files: [], message: 'hello' });
    const refused = await host.run(['rewind', 'last', '1']);
    expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining('Confirm with --yes')]);
    expect((await host.run(['rewind', 'last', '7', '--yes'])).stderr).toContain(
      'there are turns 1 to 2, and no turn 7',
    );
    expect((await host.run(['rewind', 'last'])).code).toBe(2);
    await writeFile(path.join(folder, 'src', 'new.js'), 'mine\n');
    const done = await host.run(['rewind', 'last', '1', '--yes', '--json']);
    expect(JSON.parse(done.stdout)).toMatchObject({
      text: 'edit two',
      files: 1,
      kept: [{ why: 'it has been changed since' }],
    });
    expect(await note()).toBe('one\ntwo\n');
    expect(JSON.parse((await host.run(['sessions', 'show', 'last', '--json'])).stdout).turns).toEqual([]);
    expect((await host.run(['rewind', 'last', '--undo'])).stderr).toContain(
      'Undone. 2 turns are back. 1 file is as before.',
    );
    expect(await note()).toContain('TWO');
    expect((await host.run(['rewind', 'last', '1', '--files', '--yes'])).stderr).toContain('Put back 1 file.');
    expect(JSON.parse((await host.run(['sessions', 'show', 'last', '--json'])).stdout).turns).toHaveLength(2);
  });

  it('/undo takes back the last message, /redo brings it back, /rewind goes to any [DAY-060] [DAY-062]', async () => {
    const { terminal, folder } = await openChat('chat --config autoApprove=true', {
      host: shared(),
      prepare: newRepository,
    });
    const note = () => readFile(path.join(folder, 'note.txt'), 'utf8');
    await terminal.sees(PROMPT);
    await say(terminal, '/undo');
    await terminal.sees(/※ There is nothing to undo yet\./);
    await say(terminal, 'edit two');
    await terminal.sees(/※ 2 files changed[^\n]*\n\n> write/);
    await say(terminal, '/undo');
    await terminal.sees(
      /Back to before "edit two"\n {2}Takes out 1 turn;[\s\S]*M note\.txt {2}\+1 -2\n[\s\S]*\? Take this message back/,
    );
    await answer(terminal, 'n');
    await terminal.sees(/※ Nothing was changed\./);
    await say(terminal, '/undo');
    await terminal.sees(/Nothing was changed[\s\S]*\? Take this message back/);
    await answer(terminal, 'y');
    await terminal.sees(/※ Took back 1 turn, kept in a fork\. Put back 2 files\. \/redo takes that back/);
    await terminal.sees(/> edit two\n/);
    expect(await note()).toBe('one\ntwo\n');
    terminal.keys('C-u');
    await say(terminal, '/redo');
    await terminal.sees(/※ Undone\. 1 turn is back\. 2 files are as before\./);
    expect(await note()).toContain('TWO');
    await say(terminal, 'hello');
    await terminal.sees(/5 out\n\n> write a message/);
    await say(terminal, '/rewind');
    await terminal.sees(/Back to before which message\?[\s\S]*› 2 +\S+ ago +hello\n +1 +\S+ ago +edit two/);
    terminal.keys('Down');
    terminal.keys('Enter');
    await terminal.sees(/What goes back\?\n› conversation and files\n {2}only the conversation\n {2}only files/);
    terminal.keys('Down');
    terminal.keys('Down');
    terminal.keys('Enter');
    await terminal.sees(/※ Put back 2 files\. \/redo takes that back/);
    expect(await note()).toBe('one\ntwo\n');
    await say(terminal, '/rewind 9');
    await terminal.sees(/※ There is no message 9 here\./);
  });
});
