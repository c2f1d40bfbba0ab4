/**
 * A protected text stands in the prompt once. Copies of it in what others added are taken out, also those that come about
 * only where two texts meet: otherwise somebody could show the rules early and go on with "but".
 */
import { isShown, joined, SEPARATOR } from './sections.js';

export interface Piece {
  /** The section that it belongs to. */
  readonly id: string;
  readonly text: string;
  /** `protected` and `agents`: as the agent wrote it. `added`: somebody else had a hand in it. */
  readonly kind: 'protected' | 'agents' | 'added';
}

export function withoutCopies(pieces: readonly Piece[]): readonly Piece[] {
  const originals = pieces.filter(({ kind, text }) => kind === 'protected' && isShown(text));
  if (!pieces.some(({ kind }) => kind === 'added')) return pieces;
  const whole = joined(pieces.map(({ text }) => text));
  if (originals.every(({ text }) => isOnceIn(whole, text))) return pieces;
  const mark = unusedMark(originals.map(({ text }) => text).join(''));
  return originals.reduce((rest, original) => withoutSpans(withoutInner(rest, original, mark), original, mark), pieces);
}

/** The usual case, so it is found out first, in one go over the whole prompt. */
function isOnceIn(whole: string, text: string): boolean {
  return whole.indexOf(text, whole.indexOf(text) + 1) === -1;
}

/** A sign for what was taken out. No original has it, so no copy can come about across it. */
function unusedMark(texts: string): string {
  let code = '…'.charCodeAt(0);
  while (texts.includes(String.fromCharCode(code))) code++;
  return String.fromCharCode(code);
}

function withoutInner(pieces: readonly Piece[], { text: original }: Piece, mark: string): readonly Piece[] {
  return pieces.map((piece) =>
    piece.kind === 'added' && piece.text.includes(original)
      ? { ...piece, text: piece.text.split(original).join(mark) }
      : piece,
  );
}

/** Only a text with line breaks can come about where two others meet, for these are what stands between them. */
function withoutSpans(pieces: readonly Piece[], original: Piece, mark: string): readonly Piece[] {
  if (!original.text.includes('\n')) return pieces;
  let rest = pieces;
  for (let next = spanIn(rest, original, mark); next; next = spanIn(rest, original, mark)) rest = next;
  return rest;
}

/** A piece that is shown, and where. */
interface Placed {
  readonly index: number;
  readonly start: number;
  readonly end: number;
}

/** The pieces without the first copy that goes over their borders; undefined when there is none. */
function spanIn(pieces: readonly Piece[], original: Piece, mark: string): readonly Piece[] | undefined {
  const placed = placesOf(pieces);
  const whole = placed.map(({ index }) => pieces[index]?.text).join(SEPARATOR);
  const { length } = original.text;
  for (let at = whole.indexOf(original.text); at !== -1; at = whole.indexOf(original.text, at + 1)) {
    const touched = placed.filter(({ start, end }) => start < at + length && end > at);
    if (touched.some(({ index, start }) => pieces[index] === original && start === at)) continue;
    const between = pieces.slice(touched[0]?.index, (touched.at(-1)?.index ?? 0) + 1);
    // One that somebody emptied counts as well: without it, others would not meet.
    const added = between.find(({ kind }) => kind === 'added');
    if (!added) continue;
    const start = touched.find(({ index }) => pieces[index] === added)?.start ?? at;
    const cut = added.text.slice(0, Math.max(0, at - start)) + mark + added.text.slice(at + length - start);
    return pieces.map((piece) => (piece === added ? { ...piece, text: cut } : piece));
  }
  return undefined;
}

function placesOf(pieces: readonly Piece[]): Placed[] {
  let start = 0;
  return pieces.flatMap(({ text }, index) => {
    if (!isShown(text)) return [];
    const place = { index, start, end: start + text.length };
    start = place.end + SEPARATOR.length;
    return [place];
  });
}
