/**
 * Protects sections: they are set aside before the other stages run, and put back at the end byte for byte, with
 * additions to them in a block before each, and safety after everything else. Each protected text appears in the prompt
 * once: copies in text that others added are removed, even copies that arise only where two texts meet. Otherwise an
 * extension could quote the rules early and go on with "but".
 */
import { followed, isShown, joined, SAFETY, SEPARATOR, type Sections } from '../util/prompt-sections.js';

interface Split {
  /** Sections that extensions and the client may change. */
  readonly open: Sections;
  /** The protected sections. */
  readonly kept: Sections;
}

export function setAside(base: Sections, isProtected: ReadonlySet<string>): Split {
  const [open, kept] = [new Map<string, string>(), new Map<string, string>()];
  for (const [id, text] of base) (isProtected.has(id) ? kept : open).set(id, text);
  return { open, kept };
}

interface Assembly {
  readonly base: Sections;
  readonly kept: Sections;
  /** What was added to protected sections. */
  readonly asides: Sections;
}

/** The whole prompt, in the agent's order, with safety at the end. */
export function assembled(shaped: Sections, { base, kept, asides }: Assembly): Sections {
  const ids = [...new Set([...base.keys(), ...shaped.keys()])].filter((id) => id !== SAFETY);
  if (base.has(SAFETY)) ids.push(SAFETY);
  const pieces = ids.flatMap((id) => piecesOf(id, { shaped, base, kept, asides }));
  const result = new Map<string, string>();
  for (const { id, text } of withoutCopies(pieces)) result.set(id, followed(result.get(id) ?? '', text));
  return result;
}

function piecesOf(id: string, { shaped, base, kept, asides }: Assembly & { shaped: Sections }): Piece[] {
  const own = kept.get(id);
  if (own === undefined) {
    const text = shaped.get(id) ?? '';
    return [{ id, text, kind: text === base.get(id) ? 'agents' : 'added' }];
  }
  const aside = asides.get(id) ?? '';
  const pristine: Piece = { id, text: own, kind: 'protected' };
  return isShown(aside) ? [{ id, text: block(id, aside), kind: 'added' }, pristine] : [pristine];
}

/** A block that a model can tell from the text after it; the text inside cannot close the block. */
function block(id: string, text: string): string {
  const inner = text.replace(/<(?=\/?additions)/gi, '< ');
  return `<additions to="${id}">\n${inner}\n</additions>`;
}

interface Piece {
  /** The section it belongs to. */
  readonly id: string;
  readonly text: string;
  /** `protected` and `agents` are as the agent wrote them. `added` was changed by an extension or a client. */
  readonly kind: 'protected' | 'agents' | 'added';
}

function withoutCopies(pieces: readonly Piece[]): readonly Piece[] {
  const originals = pieces.filter(({ kind, text }) => kind === 'protected' && isShown(text));
  if (!pieces.some(({ kind }) => kind === 'added')) return pieces;
  const whole = joined(pieces.map(({ text }) => text));
  if (originals.every(({ text }) => isOnceIn(whole, text))) return pieces;
  const mark = unusedMark(originals.map(({ text }) => text).join(''));
  return originals.reduce((rest, original) => withoutSpans(withoutInner(rest, original, mark), original, mark), pieces);
}

/** True when a text appears once: finds the usual case in one pass over the whole prompt. */
function isOnceIn(whole: string, text: string): boolean {
  return whole.indexOf(text, whole.indexOf(text) + 1) === -1;
}

/** A mark in place of each removed copy. No original contains it, so no copy can arise across it. */
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

/**
 * Removes copies that span several pieces. Pieces are joined by line breaks, so only a text with line breaks can span
 * them.
 */
function withoutSpans(pieces: readonly Piece[], original: Piece, mark: string): readonly Piece[] {
  if (!original.text.includes('\n')) return pieces;
  let rest = pieces;
  for (let next = spanIn(rest, original, mark); next; next = spanIn(rest, original, mark)) rest = next;
  return rest;
}

/** A visible piece, and its position. */
interface Placed {
  readonly index: number;
  readonly start: number;
  readonly end: number;
}

/** The pieces without the first copy that spans several of them; undefined when there is none. */
function spanIn(pieces: readonly Piece[], original: Piece, mark: string): readonly Piece[] | undefined {
  const placed = placesOf(pieces);
  const whole = placed.map(({ index }) => pieces[index]?.text).join(SEPARATOR);
  const { length } = original.text;
  for (let at = whole.indexOf(original.text); at !== -1; at = whole.indexOf(original.text, at + 1)) {
    const touched = placed.filter(({ start, end }) => start < at + length && end > at);
    if (touched.some(({ index, start }) => pieces[index] === original && start === at)) continue;
    const between = pieces.slice(touched[0]?.index, (touched.at(-1)?.index ?? 0) + 1);
    // An empty piece counts, too: its neighbours meet only because it is empty.
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
