/** Colours code. The library and its languages come when the first code is shown, not before. */
import type { HLJSApi } from 'highlight.js';

/** Colouring longer code would be felt; it is shown plain. */
const CODE_MAX_CHARACTERS = 60_000;

let loading: Promise<HLJSApi> | undefined;

/** Resolves with HTML made by the library, which escapes the code; undefined for a language that it does not know. */
export async function highlighted(code: string, language: string): Promise<string | undefined> {
  if (language === '' || code.length > CODE_MAX_CHARACTERS) return undefined;
  loading ??= import('./languages.js').then((module) => module.highlighter);
  const highlighter = await loading;
  if (!highlighter.getLanguage(language)) return undefined;
  const html = highlighter.highlight(code, { language, ignoreIllegals: true }).value;
  // The library can put a line break in the place of another character. Its lines would then be told for others.
  return textOf(html) === code ? html : undefined;
}

const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', '#x27': "'" };

/** What the HTML of the library says; it writes nothing but spans and these entities. */
function textOf(html: string): string {
  return html.replace(/<[^>]*>/g, '').replace(/&(amp|lt|gt|quot|#x27);/g, (_, name: string) => ENTITIES[name] ?? '');
}

/** The language of a file, by its name. */
export function languageOfFile(path: string): string {
  return /\.([\w]+)$/.exec(path)?.[1]?.toLowerCase() ?? '';
}
