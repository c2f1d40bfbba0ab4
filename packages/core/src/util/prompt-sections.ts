/** The form in which the system prompt is passed around: sections in order, each an id and a text. */

export type Sections = ReadonlyMap<string, string>;

/** The section for rules: those of plugins, of a selected agent, of the project. */
export const CUSTOM_INSTRUCTIONS = 'custom_instructions';
/** The section that ends every prompt. */
export const SAFETY = 'safety';

/** Separates two texts. */
export const SEPARATOR = '\n\n';

/** The sections as one text, the way a model reads them. */
export function promptText(sections: Sections): string {
  return joined([...sections.values()]);
}

/** Joins texts, leaving out empty ones. */
export function joined(texts: readonly string[]): string {
  return texts.filter(isShown).join(SEPARATOR);
}

/** Joins two texts. */
export function followed(first: string, second: string): string {
  if (!isShown(first)) return second;
  return isShown(second) ? first + SEPARATOR + second : first;
}

export function isShown(text: string): boolean {
  return /\S/.test(text);
}
