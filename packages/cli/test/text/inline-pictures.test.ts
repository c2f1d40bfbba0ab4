import { describe, expect, it } from 'vitest';
import { INLINE_MAX_BYTES, inlinePicture, pictureProtocol } from '../../src/text/inline-pictures.js';
import { pictureWords } from '../../src/text/picture-words.js';

/** The head of a picture, as far as its size goes, with anything behind it. */
function png(width: number, height: number, rest = 0): Buffer {
  const head = Buffer.from('\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR........\x08\x02\0\0\0', 'latin1');
  head.writeUInt32BE(width, 16);
  head.writeUInt32BE(height, 20);
  return Buffer.concat([head, Buffer.alloc(rest, '\u001b]0;title\u0007')]);
}

const GIF = Buffer.from('GIF89a\x03\0\x02\0', 'latin1');
const window = { columns: 80, rows: 30 };
const kitty = { protocol: 'kitty', ...window } as const;
const iterm = { protocol: 'iterm2', ...window } as const;

/** With its escapes as a letter. */
const spelled = (sequence = '') => sequence.replaceAll('\u001b', '␛');

describe('pictures in a terminal [DAY-110]', () => {
  it('are shown by the protocol that the terminal names, and by none inside of tmux or screen', () => {
    expect(pictureProtocol({ TERM: 'xterm-kitty' })).toBe('kitty');
    expect(pictureProtocol({ TERM: 'xterm-256color', TERM_PROGRAM: 'ghostty' })).toBe('kitty');
    expect(pictureProtocol({ TERM: 'xterm-256color', TERM_PROGRAM: 'WezTerm' })).toBe('iterm2');
    expect(pictureProtocol({ TERM: 'xterm-256color', LC_TERMINAL: 'iTerm2' })).toBe('iterm2');
    expect(pictureProtocol({ TERM: 'xterm-256color', ATRIUM_PICTURES: 'kitty' })).toBe('kitty');
    const none = [{}, { TERM: 'xterm-256color' }, { TERM_PROGRAM: 'toString' }, { KITTY_WINDOW_ID: '1', TMUX: 'x' }];
    const inside = { TERM: 'screen-256color', LC_TERMINAL: 'iTerm2', ATRIUM_PICTURES: 'iterm2' };
    for (const env of [
      ...none,
      inside,
      { TERM: 'xterm-kitty', STY: '1' },
      { TERM: 'xterm-kitty', ATRIUM_PICTURES: 'off' },
    ])
      expect(pictureProtocol(env), JSON.stringify(env)).toBeUndefined();
  });

  it('take no more than a part of the window, and keep their shape', () => {
    expect(inlinePicture(png(100, 100), kitty)).toContain(',c=10,');
    expect(inlinePicture(png(4_000, 100), kitty)).toContain(',c=78,');
    expect(inlinePicture(png(400, 4_000), kitty)).toContain(',r=15,');
    expect(inlinePicture(png(400, 4_000), iterm)).toContain(';width=auto;height=15;');
    expect(inlinePicture(png(400, 4_000), { ...kitty, rows: 200 })).toContain(',r=20,');
  });

  it('bring nothing but base64 to the terminal, in sequences that are short enough', () => {
    const sequence = spelled(inlinePicture(png(100, 100, 10_000), kitty));
    const [first, ...others] = sequence.split('␛\\').filter((part) => part !== '');
    expect(first).toMatch(/^␛_Ga=T,f=100,q=2,c=10,m=1;[\w+/=]{4096}$/);
    expect(others.length).toBeGreaterThan(1);
    for (const other of others) expect(other).toMatch(/^␛_Gm=[01];[\w+/=]{1,4096}$/);
    expect(others.at(-1)).toMatch(/^␛_Gm=0;/);
  });

  it('are those that the terminal reads, within limits, and nothing that only claims to be one', () => {
    expect(inlinePicture(GIF, kitty)).toBeUndefined();
    expect(spelled(inlinePicture(GIF, iterm))).toMatch(/^␛\]1337;File=inline=1;size=10;/);
    expect(inlinePicture(Buffer.from('no picture'), iterm)).toBeUndefined();
    expect(inlinePicture(png(100_000, 100_000), kitty)).toBeUndefined();
    expect(inlinePicture(png(10, 10, INLINE_MAX_BYTES), kitty)).toBeUndefined();
  });

  it('are told in words where they are not shown, without a sequence in their names', () => {
    const size = { width: 120, height: 80 };
    expect(pictureWords({ name: 'a.png', size, contentType: 'image/png', bytes: 14_200 })).toBe(
      'a.png, 120×80 png, 14 kB',
    );
    expect(pictureWords({ contentType: 'image/jpeg' })).toBe('jpeg');
    expect(pictureWords({ name: '\u001b[2Ja.png', bytes: 2_500_000 })).toBe('\\x1b[2Ja.png, 2.5 MB');
  });
});
