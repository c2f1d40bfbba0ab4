/** `/files` and `/open`: the folder of the session, and a file of it with the numbers of its lines. */
import { fileAt } from '../../files/place.js';
import { readBytes } from '../../files/read.js';
import { folderText } from '../../sessions/words.js';
import { inColumns } from '../../text/columns.js';
import { printable, printableLines } from '../../text/printable.js';
import { cut } from '../../text/width.js';
import type { Room, Task } from './room.js';

const ENTRIES_SHOWN_MAX = 400;
const LINES_SHOWN_MAX = 200;
/** Nobody reads more than this in a chat. */
const OPEN_MAX_BYTES = 4 * 1024 * 1024;

export function files(name: string): Task {
  return async (room) => {
    const uri = fileAt(folderOf(room), name === '' ? '.' : name);
    const { entries } = await room.client.request('resourceList', { uri });
    const { style, columns } = room.view();
    const folders = entries.filter(({ type }) => type === 'directory').map((entry) => `${printable(entry.name)}/`);
    const rest = entries.filter(({ type }) => type !== 'directory').map((entry) => printable(entry.name));
    const names = [...folders.sort(), ...rest.sort()].slice(0, ENTRIES_SHOWN_MAX);
    const hidden = entries.length - names.length;
    const rows = inColumns(names, columns - 2).map((row) => cut(`  ${row}`, columns));
    const count = `${entries.length} ${entries.length === 1 ? 'entry' : 'entries'}`;
    const head = `${style.bold(cut(folderText(uri.replace(/\/+$/, '')), columns - 14))}  ${style.dim(count)}`;
    room.show([head, ...rows, ...(hidden > 0 ? [style.dim(`  … ${hidden} more`)] : []), '']);
  };
}

/** `name:120` begins at a line. */
export function open(words: string): Task {
  return async (room) => {
    const [, name = '', from = '1'] = /^(.*?)(?::(\d{1,9}))?$/s.exec(words) ?? [];
    if (name === '') return room.note('Name a file behind it: /open src/app.ts, or from a line: /open src/app.ts:120');
    const bytes = await readBytes(room.client, fileAt(folderOf(room), name), OPEN_MAX_BYTES);
    if (bytes.includes(0)) return room.note(`${name} is not text (${bytes.length} bytes).`);
    const lines = printableLines(bytes.toString('utf8').replace(/\n$/, '')).split('\n');
    showLines(room, { name, lines, start: Math.min(Math.max(1, Number(from)), lines.length) });
  };
}

interface Shown {
  readonly name: string;
  readonly lines: readonly string[];
  /** Counted from 1. */
  readonly start: number;
}

function showLines(room: Room, { name, lines, start }: Shown): void {
  const { style, columns } = room.view();
  const end = Math.min(lines.length, start - 1 + LINES_SHOWN_MAX);
  const width = String(end).length;
  const shown = lines
    .slice(start - 1, end)
    .map((line, index) => `${style.dim(String(start + index).padStart(width))} ${cut(line, columns - width - 1)}`);
  const count = `${lines.length} ${lines.length === 1 ? 'line' : 'lines'}`;
  const left = lines.length - end;
  const more = left > 0 ? [style.yellow(`… ${left} more lines: /open ${printable(name)}:${end + 1}`)] : [];
  room.show([`${style.bold(printable(name))}  ${style.dim(count)}`, ...shown, ...more, '']);
}

function folderOf({ session }: Room): string {
  const { workingDirectory } = session.state.summary;
  if (workingDirectory === undefined) throw new Error('the session has no folder');
  return workingDirectory;
}
