/** `/changes` and `/diff`: what is different in the folder, as a list and line by line. */
import type { SessionState } from '@atrium/protocol';
import { channelOf } from '../../changes/catalogue.js';
import { diffLine, diffOf, fileLines } from '../../changes/changes-view.js';
import { readChangeset } from '../../changes/changeset.js';
import { findFile, totalsOf, totalsText } from '../../changes/file-state.js';
import { defaultView, entryOf, isView, VIEW_WORDS, VIEWS, type ViewName } from '../../changes/views.js';
import { wrap } from '../../text/width.js';
import type { Room, Task } from './room.js';

/** More would push everything else out of sight; the rest is one command away. */
const DIFF_LINES_MAX = 300;
/** Files whose contents are fetched for one look. */
const DIFF_FILES_MAX = 50;

export function changes(word: string): Task {
  return async (room) => {
    const { state } = room.session;
    if (word !== '' && !isView(word)) return room.note(`There is no "${word}". There are: ${VIEWS.join(', ')}.`);
    const view = isView(word) ? word : defaultView(state);
    const changeset = await readChangeset(room.client, await channelOf(room.session, view));
    room.recall.view = view;
    const { style, columns } = room.view();
    const { files } = changeset;
    const head = style.bold(`${VIEW_WORDS[view]}: ${files.length === 0 ? 'no changes' : totalsText(totalsOf(files))}`);
    const frame = { style, columns, folder: state.summary.workingDirectory };
    const foot = [...(files.length > 0 ? [hintFor(view)] : []), ...others(room.session.state, view)];
    const below = foot.flatMap((line) => wrap(line, columns - 2)).map((line) => style.dim(`  ${line}`));
    room.show([head, ...fileLines(changeset, frame), ...below, '']);
  };
}

function hintFor(view: ViewName): string {
  return view === 'uncommitted'
    ? '/diff [file] · /stage · /commit · /discard [file]'
    : '/diff [file] · /revert [file] takes them back';
}

/** The sums of the other views, where there are some. */
function others(state: SessionState, view: ViewName): string[] {
  return (['session', 'uncommitted'] as const).flatMap((other) => {
    const { files = 0, additions = 0, deletions = 0 } = entryOf(state, other) ?? {};
    if (other === view || files === 0) return [];
    return [`/changes ${other}: ${totalsText({ files, added: additions, removed: deletions })}`];
  });
}

/** Of one file, or of all that were listed last. */
export function diff(words: string): Task {
  return async (room) => {
    const { state } = room.session;
    const [first = '', ...rest] = words.split(/\s+/);
    const view = isView(first) ? first : (room.recall.view ?? defaultView(state));
    const name = isView(first) ? rest.join(' ') : words;
    const folder = state.summary.workingDirectory;
    const { files } = await readChangeset(room.client, await channelOf(room.session, view));
    room.recall.view = view;
    const chosen = name === '' ? files.slice(0, DIFF_FILES_MAX) : [findFile(files, name, folder)];
    if (chosen.length === 0) return room.note(`${VIEW_WORDS[view]}: no changes.`);
    const diffs = await Promise.all(chosen.map(({ edit }) => diffOf(room, edit, folder)));
    showDiff(room, diffs.flat(), files.length - (name === '' ? chosen.length : files.length));
  };
}

function showDiff(room: Room, lines: readonly string[], filesLeft: number): void {
  const view = room.view();
  const hidden = lines.length - DIFF_LINES_MAX;
  const left = [
    ...(hidden > 0 ? [`… ${hidden} more lines. One file: /diff <file>`] : []),
    ...(filesLeft > 0 ? [`… ${filesLeft} more files. One of them: /diff <file>`] : []),
  ];
  const shown = lines.slice(0, DIFF_LINES_MAX).map((line) => diffLine(line, view));
  room.show([...shown, ...left.map((line) => view.style.yellow(line)), '']);
}
