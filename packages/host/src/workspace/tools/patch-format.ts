/**
 * The patch format that some models are trained on: files to add, update, move and delete between `*** Begin Patch` and
 * `*** End Patch`, with changed lines and some lines around them instead of line numbers. This file handles text only;
 * its callers resolve the file names.
 */
import { ToolFailure } from '@atrium/core/contracts/tool.js';
import { shorten } from '@atrium/core/util/text.js';

export const PATCH_MAX_CHARACTERS = 2 * 2 ** 20;
export const PATCH_FILES_MAX = 200;

export type PatchedFile =
  | { readonly kind: 'add'; readonly path: string; readonly text: string }
  | { readonly kind: 'delete'; readonly path: string }
  | { readonly kind: 'update'; readonly path: string; readonly moveTo?: string; readonly hunks: readonly Hunk[] };

/** Consecutive lines of a file, before and after the change. */
export interface Hunk {
  /** Lines somewhere before it, such as the head of a function: one for each `@@`. */
  readonly anchors: readonly string[];
  readonly before: readonly string[];
  readonly after: readonly string[];
  /** The hunk covers the last lines of the file. */
  readonly isAtEnd: boolean;
}

const HEADER = /^\*\*\* (Add|Update|Delete) File: (.+)$/;

export function parsePatch(text: string): PatchedFile[] {
  if (text.length > PATCH_MAX_CHARACTERS) throw bad(`it has more than ${PATCH_MAX_CHARACTERS} characters`);
  const lines = text.replaceAll('\r\n', '\n').trim().split('\n');
  if (lines.shift()?.trim() !== '*** Begin Patch') throw bad('its first line must be "*** Begin Patch"');
  if (lines.pop()?.trim() !== '*** End Patch') throw bad('its last line must be "*** End Patch"');
  const files: PatchedFile[] = [];
  while (lines.length > 0) {
    files.push(nextFile(lines));
    if (files.length > PATCH_FILES_MAX) throw bad(`it has more than ${PATCH_FILES_MAX} files`);
  }
  if (files.length === 0) throw bad('it has no files');
  return files;
}

/** Takes the lines of one file from the list. */
function nextFile(lines: string[]): PatchedFile {
  const head = lines.shift() ?? '';
  const [, kind, name = ''] = HEADER.exec(head.trimEnd()) ?? [];
  const path = name.trim();
  if (kind === undefined || path === '')
    throw bad(
      `expected "*** Add File: <path>", "*** Update File: <path>" or "*** Delete File: <path>", not "${shorten(head, 80)}"`,
    );
  const body: string[] = [];
  while (lines.length > 0 && !HEADER.test(lines[0] ?? '')) body.push(lines.shift() ?? '');
  if (kind === 'Add') return { kind: 'add', path, text: addedText(path, body) };
  if (kind === 'Update') return updated(path, body);
  if (body.some((line) => line.trim() !== '')) throw bad(`"*** Delete File: ${path}" is followed by lines`);
  return { kind: 'delete', path };
}

function addedText(path: string, body: readonly string[]): string {
  const wrong = body.find((line) => !line.startsWith('+'));
  if (wrong !== undefined) throw bad(`every line of the new file ${path} must begin with "+": "${shorten(wrong, 80)}"`);
  return body.map((line) => `${line.slice(1)}\n`).join('');
}

function updated(path: string, body: string[]): PatchedFile {
  const moveTo = /^\*\*\* Move to: (.+)$/.exec(body[0]?.trimEnd() ?? '')?.[1]?.trim();
  if (moveTo !== undefined) body.shift();
  const hunks = hunksIn(path, body);
  if (hunks.length === 0 && moveTo === undefined) throw bad(`the update of ${path} changes nothing`);
  return { kind: 'update', path, hunks, ...(moveTo !== undefined && { moveTo }) };
}

interface OpenHunk {
  anchors: string[];
  before: string[];
  after: string[];
  isAtEnd: boolean;
}

function hunksIn(path: string, body: readonly string[]): Hunk[] {
  const hunks: OpenHunk[] = [];
  let current: OpenHunk | undefined;
  const begin = (): OpenHunk => {
    const hunk = { anchors: [], before: [], after: [], isAtEnd: false };
    hunks.push(hunk);
    return hunk;
  };
  for (const line of body) {
    if (line.startsWith('@@')) {
      const isEmpty = current && current.before.length === 0 && current.after.length === 0;
      if (!current || !isEmpty) current = begin();
      const anchor = line.slice(2).replace(/^ /, '');
      if (anchor.trim() !== '') current.anchors.push(anchor);
      continue;
    }
    current ??= begin();
    if (line.trim() === '*** End of File') current.isAtEnd = true;
    else addLine(current, line, path);
  }
  return hunks.filter(({ before, after }) => before.length > 0 || after.length > 0);
}

/** An empty line is an unchanged empty line, because models omit its space. */
function addLine(hunk: OpenHunk, line: string, path: string): void {
  const sign = line[0] ?? ' ';
  const text = line.slice(1);
  if (sign !== '+' && sign !== '-' && sign !== ' ')
    throw bad(`a line of ${path} begins with neither " ", "+", "-" nor "@@": "${shorten(line, 80)}"`);
  if (sign !== '+') hunk.before.push(text);
  if (sign !== '-') hunk.after.push(text);
}

/**
 * The text with all hunks applied in order. Errors name the lines that were not found. Line endings stay as they are.
 */
export function applyHunks(text: string, hunks: readonly Hunk[], shown: string): string {
  const ending = text.includes('\r\n') ? '\r\n' : '\n';
  const hasLastEnding = text === '' || text.endsWith('\n');
  const lines = text.split(/\r?\n/);
  if (hasLastEnding) lines.pop();
  let from = 0;
  for (const [index, hunk] of hunks.entries()) {
    for (const anchor of hunk.anchors) {
      const at = found(lines, [anchor], from);
      if (at === undefined) throw noMatch(shown, index, [anchor], `the line behind "@@" is not below line ${from}`);
      from = at + 1;
    }
    const at = placeOf(lines, hunk, from);
    if (at === undefined) throw noMatch(shown, index, hunk.before, nearestText(lines, hunk.before, from));
    lines.splice(at, hunk.before.length, ...hunk.after);
    from = at + hunk.after.length;
  }
  return lines.length === 0 ? '' : lines.join(ending) + (hasLastEnding ? ending : '');
}

function placeOf(lines: readonly string[], { before, isAtEnd }: Hunk, from: number): number | undefined {
  if (before.length === 0) return isAtEnd || from === 0 ? lines.length : from;
  if (!isAtEnd) return found(lines, before, from);
  const at = lines.length - before.length;
  return at >= from && isSame(lines, before, at, (line) => line.trimEnd()) ? at : undefined;
}

/** Looks for exact lines first, then ignores spaces at the ends of lines, which models lose. */
function found(lines: readonly string[], wanted: readonly string[], from: number): number | undefined {
  for (const read of [(line: string) => line, (line: string) => line.trimEnd()]) {
    for (let at = from; at + wanted.length <= lines.length; at++) if (isSame(lines, wanted, at, read)) return at;
  }
  return undefined;
}

function isSame(
  lines: readonly string[],
  wanted: readonly string[],
  at: number,
  read: (line: string) => string,
): boolean {
  return wanted.every((line, index) => read(lines[at + index] ?? '') === read(line));
}

/** If the first line was found, says which later line differs. */
function nearestText(lines: readonly string[], wanted: readonly string[], from: number): string {
  const [first = ''] = wanted;
  const at = lines.findIndex((line, index) => index >= from && line.trimEnd() === first.trimEnd());
  if (at < 0) return `its first line is not below line ${from}`;
  const wrong = wanted.findIndex((line, index) => (lines[at + index] ?? '').trimEnd() !== line.trimEnd());
  const there = lines[at + wrong];
  return `line ${at + wrong + 1} is ${there === undefined ? 'the end of the file' : JSON.stringify(shorten(there, 120))}, not ${JSON.stringify(shorten(wanted[wrong] ?? '', 120))}`;
}

function noMatch(shown: string, index: number, lines: readonly string[], why: string): ToolFailure {
  const quoted = lines.slice(0, 3).map((line) => `  ${shorten(line, 120)}`);
  const message = `Change ${index + 1} of ${shown} does not fit: ${why}. It looks for:\n${quoted.join('\n')}\nRead the file again. Nothing was changed.`;
  return new ToolFailure('NO_MATCH', message);
}

function bad(why: string): ToolFailure {
  return new ToolFailure('BAD_PATCH', `The patch cannot be read: ${why}. Nothing was changed.`);
}
