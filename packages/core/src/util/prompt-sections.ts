/** The system prompt as everybody hands it on: sections in order, each an id and a text. */

export type Sections = ReadonlyMap<string, string>;

/** Where rules go: those of plugins, of a selected agent, of the project. */
export const CUSTOM_INSTRUCTIONS = 'custom_instructions';
/** Has the last word: it is the end of every prompt. */
export const SAFETY = 'safety';

/** What stands between two texts. */
export const SEPARATOR = '\n\n';

/** The sections as one text, the way a model reads them. */
export function promptText(sections: Sections): string {
  return joined([...sections.values()]);
}

/** Texts one after the other; those with nothing to read are left out. */
export function joined(texts: readonly string[]): string {
  return texts.filter(isShown).join(SEPARATOR);
}

/** Two texts, one after the other. */
export function followed(first: string, second: string): string {
  if (!isShown(first)) return second;
  return isShown(second) ? first + SEPARATOR + second : first;
}

export function isShown(text: string): boolean {
  return /\S/.test(text);
}
