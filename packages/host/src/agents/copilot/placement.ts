/**
 * Where the rendered text goes. Copilot puts five sections after safety, and their places are fixed. So a section that
 * somebody changed moves up in front of safety, which stays where it is, byte for byte: it follows everything that was
 * contributed, and can never get lost.
 */
import { AFTER_SAFETY, BEFORE_SAFETY, SAFETY } from './catalogue.js';

type Sections = ReadonlyMap<string, string>;

/** What to hand back to the runtime, by section. A section that is not in it stays as the runtime has it. */
export function placed(pristine: Sections, rendered: Sections): Sections {
  const texts = new Map([...rendered].filter(([id, text]) => pristine.has(id) && text !== pristine.get(id)));
  const addition = additionTo(SAFETY, pristine, rendered);
  texts.delete(SAFETY);
  const anchor = BEFORE_SAFETY.findLast((id) => pristine.has(id));
  if (anchor === undefined) return texts;
  const moved = AFTER_SAFETY.flatMap((id) => wrapped(id, texts.get(id)));
  for (const id of AFTER_SAFETY) if (texts.has(id)) texts.set(id, '');
  const inFront = [texts.get(anchor) ?? pristine.get(anchor) ?? '', ...moved, addition].filter((text) => text !== '');
  if (moved.length > 0 || addition !== '') texts.set(anchor, inFront.join('\n\n'));
  return texts;
}

/** What stands in front of a protected text. */
function additionTo(id: string, pristine: Sections, rendered: Sections): string {
  const own = pristine.get(id);
  const text = rendered.get(id);
  return own !== undefined && text?.endsWith(own) ? text.slice(0, text.length - own.length).trim() : '';
}

/** The runtime's own marks stay behind, so it gets others. */
function wrapped(id: string, text: string | undefined): string[] {
  return text === undefined || text.trim() === '' ? [] : [`<${id}>\n${text}\n</${id}>`];
}
