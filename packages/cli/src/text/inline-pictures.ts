/** Pictures in terminals that can show them: the protocols of kitty and of iTerm2. */
import { PICTURE_SHOWN_MAX_PIXELS, pictureOf } from '@atrium/protocol/ahp-1';

export type PictureProtocol = 'kitty' | 'iterm2';

/** The chat only names larger pictures, because terminals keep every picture in memory. */
export const INLINE_MAX_BYTES = 4 * 2 ** 20;
/** The part of the window that a picture may fill. */
const ROWS_SHARE = 0.5;
const ROWS_MAX = 20;
/** The usual size of a character cell; the terminal itself keeps the shape of the picture. */
const CELL = { width: 10, height: 20 };
/** The longest sequence that kitty accepts. */
const CHUNK_CHARACTERS = 4_096;

type Env = Readonly<Record<string, string | undefined>>;

const PROGRAMS: Readonly<Record<string, PictureProtocol>> = {
  kitty: 'kitty',
  ghostty: 'kitty',
  'iTerm.app': 'iterm2',
  WezTerm: 'iterm2',
  mintty: 'iterm2',
};

/**
 * The protocol that the terminal announces. None inside tmux and screen, because they read the sequences and may not
 * pass them
 * on. `ATRIUM_PICTURES` names the protocol if the terminal does not, or is `off`.
 */
export function pictureProtocol(env: Env): PictureProtocol | undefined {
  const { TERM = '', TERM_PROGRAM = '', ATRIUM_PICTURES: chosen } = env;
  if (chosen === 'off' || env.TMUX || env.STY || /^(?:screen|tmux)/.test(TERM)) return undefined;
  if (chosen === 'kitty' || chosen === 'iterm2') return chosen;
  if (env.KITTY_WINDOW_ID || /^xterm-(?:kitty|ghostty)$/.test(TERM)) return 'kitty';
  const known = Object.hasOwn(PROGRAMS, TERM_PROGRAM) ? PROGRAMS[TERM_PROGRAM] : undefined;
  // ssh passes this variable on.
  return known ?? (env.LC_TERMINAL === 'iTerm2' ? 'iterm2' : undefined);
}

interface Place {
  readonly protocol: PictureProtocol;
  readonly columns: number;
  readonly rows: number;
}

/**
 * The sequence that shows a picture; undefined for other content and for large pictures. It holds only numbers and
 * base64 that
 * we made: no raw byte of the picture and no name reaches the terminal.
 */
export function inlinePicture(bytes: Uint8Array, { protocol, columns, rows }: Place): string | undefined {
  const picture = bytes.length > INLINE_MAX_BYTES ? undefined : pictureOf(bytes);
  if (!picture || picture.width * picture.height > PICTURE_SHOWN_MAX_PIXELS) return undefined;
  const cells = cellsOf(picture, { columns, rows });
  const base64 = Buffer.from(bytes).toString('base64');
  if (protocol === 'iterm2') {
    if (picture.contentType === 'image/webp') return undefined;
    const extent = 'rows' in cells ? `width=auto;height=${cells.rows}` : `width=${cells.columns};height=auto`;
    return `\u001b]1337;File=inline=1;size=${bytes.length};${extent};preserveAspectRatio=1:${base64}\u0007`;
  }
  // kitty reads no other format.
  if (picture.contentType !== 'image/png') return undefined;
  return kittySequence(base64, 'rows' in cells ? `r=${cells.rows}` : `c=${cells.columns}`);
}

/** Gives one side, from which the terminal works out the other. A small picture keeps its size. */
function cellsOf(
  { width, height }: { readonly width: number; readonly height: number },
  window: { readonly columns: number; readonly rows: number },
): { readonly rows: number } | { readonly columns: number } {
  const most = {
    columns: Math.max(1, window.columns - 2),
    rows: Math.max(1, Math.min(ROWS_MAX, Math.floor(window.rows * ROWS_SHARE))),
  };
  const columns = Math.max(1, Math.min(most.columns, Math.ceil(width / CELL.width)));
  const rows = (columns * CELL.width * height) / width / CELL.height;
  return rows > most.rows ? { rows: most.rows } : { columns };
}

/** `q=2`: the terminal must not answer, because the chat would read the answer as keys. */
function kittySequence(base64: string, extent: string): string {
  const chunks = base64.match(new RegExp(`.{1,${CHUNK_CHARACTERS}}`, 'g')) ?? [];
  return chunks
    .map((chunk, index) => {
      const more = index < chunks.length - 1 ? 1 : 0;
      const control = index === 0 ? `a=T,f=100,q=2,${extent},m=${more}` : `m=${more}`;
      return `\u001b_G${control};${chunk}\u001b\\`;
    })
    .join('');
}
