import { chmod, mkdir, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, it } from 'vitest';
import { pastedFiles } from '../src/chat/pasted-files.js';
import { openChat, PROMPT, say } from './support/chat.js';
import { isBuilt, newFolder, sharedHost, type TestHost } from './support/host.js';
import { hasTmux, openTerminal, type TestTerminal } from './support/terminal.js';

/** A machine may be busy with other things. */
const WAIT = { timeout: 30_000, interval: 100 };

/** A picture of 3 × 2 pixels. */
const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAMAAAACCAIAAAASFvFNAAAAEUlEQVR4nGP4z8AARAzIJAA9xwX7CxHSUAAAAABJRU5ErkJggg==',
  'base64',
);

async function folderWith(host: Pick<TestHost, 'dataDir'>, ...names: string[]): Promise<string> {
  const folder = await newFolder(host);
  for (const name of names) await writeFile(path.join(folder, name), PNG);
  return folder;
}

describe.skipIf(!isBuilt)(
  'files that a terminal pastes (skipped unless it has been built)',
  { timeout: 60_000 },
  () => {
    const shared = sharedHost();

    describe('are known by their names', () => {
      it('in every spelling of terminals [DAY-010]', async () => {
        const folder = await folderWith(shared(), 'my shot.png', "it's.png", 'plain.png');
        const [blank, quote, plain] = ['my shot.png', "it's.png", 'plain.png'].map((name) => path.join(folder, name));
        const home = folder;
        const read = (text: string) => pastedFiles(text, home);
        expect(read(` ${blank} `)).toEqual([blank]);
        expect(read(`'${blank}'`)).toEqual([blank]);
        expect(read(`"${blank}"\n`)).toEqual([blank]);
        expect(read(blank?.replaceAll(' ', '\\ ') ?? '')).toEqual([blank]);
        expect(read(`'${quote?.replace("'", `'\\''`)}'`)).toEqual([quote]);
        expect(read(pathToFileURL(blank ?? '').href)).toEqual([blank]);
        expect(read('~/plain.png')).toEqual([plain]);
        expect(read(`${plain} '${blank}'`)).toEqual([plain, blank]);
      });

      it('and nothing else is: prose, names of other files, folders, and files of other kinds [DAY-010]', async () => {
        const folder = await folderWith(shared(), 'a.png');
        await writeFile(path.join(folder, 'text.png'), 'a text that is called a picture');
        await writeFile(path.join(folder, 'plan.pdf'), '%PDF-1.7\n');
        const at = (name: string) => path.join(folder, name);
        const texts = ['', 'look at this', 'a.png', `see ${at('a.png')}`, at('none.png'), folder, at('text.png')];
        for (const text of [...texts, 'file://elsewhere/a.png', 'file://%', `${at('a.png')} ${at('none.png')}`])
          expect(pastedFiles(text, folder), text).toEqual([]);
        expect(pastedFiles(at('plan.pdf'), folder)).toEqual([at('plan.pdf')]);
      });
    });

    describe('in a terminal that shows pictures', () => {
      const look = async (env: Record<string, string>) => {
        const host = { ...shared(), env: { ...shared().env, ...env } };
        const prepare = (folder: string) => writeFile(path.join(folder, 'shot.png'), PNG);
        const { terminal, folder } = await openChat('chat', { host, prepare });
        await terminal.sees(PROMPT);
        await terminal.paste(path.join(folder, 'shot.png'));
        await terminal.sees(/\+ shot\.png, 3×2 png/);
        await say(terminal, 'look');
        await terminal.sees(/> look\n {2}\[picture: shot\.png, 3×2 png, 73 bytes\][\s\S]*Seen\./);
        return terminal;
      };
      const base64 = PNG.toString('base64');
      const times = (text: string, part: string) => text.split(part).length - 1;

      it('the picture of a message and that of a tool result follow their lines, by its protocol [DAY-110]', async () => {
        const kitty = await look({ KITTY_WINDOW_ID: '1' });
        const ofKitty = `\u001b_Ga=T,f=100,q=2,c=1,m=0;${base64}\u001b\\`;
        await expect.poll(() => times(kitty.written(), ofKitty), WAIT).toBe(2);
        expect(await kitty.everything()).toMatch(/✓ .*\n(?:.*\n)*? {2}\[picture: .*3×2 png/);
        const iterm = await look({ TERM_PROGRAM: 'iTerm.app' });
        const ofIterm = `\u001b]1337;File=inline=1;size=73;width=1;height=auto;preserveAspectRatio=1:${base64}\u0007`;
        await expect.poll(() => times(iterm.written(), ofIterm), WAIT).toBe(2);
      });

      it('and one that does not, or is inside of tmux, has only the lines [DAY-110]', async () => {
        const inTmux = await look({ KITTY_WINDOW_ID: '1', TMUX: '/tmp/tmux-0/default,1,0' });
        const off = await look({ KITTY_WINDOW_ID: '1', ATRIUM_PICTURES: 'off' });
        for (const terminal of [inTmux, off, await look({})])
          expect(terminal.written()).not.toContain(base64.slice(0, 20));
      });
    });

    describe.skipIf(!hasTmux)('in a real terminal (skipped: tmux is not installed)', () => {
      const open = async (folder: string, env: Record<string, string> = {}): Promise<TestTerminal> => {
        const terminal = await openTerminal({ ...shared().env, ...env }, folder);
        terminal.type('atrium chat');
        terminal.keys('Enter');
        await terminal.sees(PROMPT);
        return terminal;
      };
      /** A program that has a picture for whoever asks for one, and the words of a clipboard without one. */
      const clipboardOf = async (folder: string, picture: string): Promise<Record<string, string>> => {
        const bin = path.join(folder, 'bin');
        await mkdir(bin, { recursive: true });
        const script = `#!/bin/sh
[ -f '${picture}' ] || { echo 'Error: target STRING not available' >&2; exit 1; }
case "$*" in
  *TARGETS*) printf 'TARGETS\\nimage/png\\n' ;;
  *image/png*) cat '${picture}' ;;
esac
`;
        await writeFile(path.join(bin, 'xclip'), script);
        await chmod(path.join(bin, 'xclip'), 0o755);
        return { PATH: `${bin}:${process.env.PATH ?? ''}` };
      };

      it('are attached, shown, taken away again and sent; other pasted text stays text [DAY-010] [DAY-011]', async () => {
        const folder = await folderWith(shared(), 'my shot.png', 'other.png');
        const terminal = await open(folder);
        await terminal.paste(`'${path.join(folder, 'my shot.png')}'`);
        await terminal.sees(/\+ my shot\.png, 3×2 png, 73 bytes\n.*not known whether .* sees pictures/);
        await terminal.paste(path.join(folder, 'other.png'));
        await terminal.sees(/\+ other\.png, 3×2 png/);
        terminal.keys('BSpace');
        await expect.poll(() => terminal.screen(), WAIT).not.toContain('other.png');
        await terminal.paste(path.join(folder, 'none.png'));
        await terminal.sees(/> \/.*none\.png/);
        terminal.keys('C-u');
        await say(terminal, 'what is it');
        await terminal.sees(
          /> what is it\n {2}\[picture: my shot\.png, 3×2 png, 73 bytes\]\n\n[\s\S]*You said: what is it[\s\S]*write a message\n/,
        );
        const shown = await shared().run(['sessions', 'show', 'last', '--json']);
        expect(shown.stdout).toMatch(/"label":\s*"my shot\.png"/);
        expect(shown.stdout).toMatch(/"contentType":\s*"image\/png"/);
        expect(shown.stdout).not.toContain('other.png');
      });

      it('wait for Enter to count until they have arrived [DAY-010]', async () => {
        const folder = await folderWith(shared(), 'quick.png');
        const terminal = await open(folder);
        await terminal.paste(path.join(folder, 'quick.png'));
        terminal.keys('n', 'o', 'w', 'Enter', 'x');
        await terminal.sees(/> now\n {2}\[picture: quick\.png, .*\n[\s\S]*You said: now[\s\S]*> x\n/);
      });

      it('come from the clipboard with Ctrl+V and /paste, and Ctrl+C takes them back [DAY-010]', async () => {
        const folder = await folderWith(shared(), 'held');
        const picture = path.join(folder, 'held');
        const terminal = await open(folder, await clipboardOf(folder, picture));
        terminal.keys('C-v');
        await terminal.sees(/\+ clipboard\.png, 3×2 png/);
        terminal.keys('C-c');
        await expect.poll(() => terminal.screen(), WAIT).not.toContain('clipboard.png');
        await say(terminal, '/paste');
        await terminal.sees(/\+ clipboard\.png, 3×2 png/);
        terminal.keys('Enter');
        await terminal.sees(/> *\n {2}\[picture: clipboard\.png, .*\n/);
        await rm(picture);
        terminal.keys('C-v');
        await terminal.sees(/There is no picture in the clipboard/);
      });

      it('say so where no program reads the clipboard [DAY-010]', async () => {
        const folder = await folderWith(shared());
        const terminal = await openTerminal(shared().env, folder);
        terminal.type(`PATH=${folder} atrium chat`);
        terminal.keys('Enter');
        await terminal.sees(PROMPT);
        terminal.keys('C-v');
        await terminal.sees(/No program here reads pictures from the clipboard: install wl-clipboard/);
      });
    });
  },
);
