/**
 * Protected sections are set aside before anybody has a say, and put back at the end: byte for byte, with what was added
 * to them in a block before, and safety after everything else. Nothing in between can have touched them.
 */
import { type Piece, withoutCopies } from './copies.js';
import { followed, isShown, SAFETY, type Sections } from './sections.js';

export interface Split {
  /** What others may shape. */
  readonly open: Sections;
  /** What nobody may. */
  readonly kept: Sections;
}

export function setAside(base: Sections, isProtected: ReadonlySet<string>): Split {
  const [open, kept] = [new Map<string, string>(), new Map<string, string>()];
  for (const [id, text] of base) (isProtected.has(id) ? kept : open).set(id, text);
  return { open, kept };
}

export interface Assembly {
  readonly base: Sections;
  readonly kept: Sections;
  /** What was added to protected sections. */
  readonly asides: Sections;
}

/** The order is that of the agent, but for safety, which is the end. */
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

/** Marked, so that a model can tell it from what follows; nobody can end the block from within. */
function block(id: string, text: string): string {
  const inner = text.replace(/<(?=\/?additions)/gi, '< ');
  return `<additions to="${id}">\n${inner}\n</additions>`;
}
