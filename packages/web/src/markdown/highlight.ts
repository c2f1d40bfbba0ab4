/** Colours code. Loads the library and its languages with the first code. */
import type { HLJSApi } from 'highlight.js';
import { useEffect, useState } from 'react';

/** Longer code stays plain, because colouring it would be noticeably slow. */
const CODE_MAX_CHARACTERS = 60_000;

let loading: Promise<HLJSApi> | undefined;

/** Resolves with HTML made by the library, which escapes the code; undefined for a language that it does not know. */
export async function highlighted(code: string, language: string): Promise<string | undefined> {
  if (language === '' || code.length > CODE_MAX_CHARACTERS) return undefined;
  loading ??= import('./languages.js').then((module) => module.highlighter);
  const highlighter = await loading;
  if (!highlighter.getLanguage(language)) return undefined;
  const html = highlighter.highlight(code, { language, ignoreIllegals: true }).value;
  // The library can replace another character by a line break. Then its lines would not match those of the code.
  return textOf(html) === code ? html : undefined;
}

const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', '#x27': "'" };

/** The text in the library's HTML, which contains only spans and these entities. */
function textOf(html: string): string {
  return html.replace(/<[^>]*>/g, '').replace(/&(amp|lt|gt|quot|#x27);/g, (_, name: string) => ENTITIES[name] ?? '');
}

/** The language of a file, by its name. */
export function languageOfFile(path: string): string {
  return /\.([\w]+)$/.exec(path)?.[1]?.toLowerCase() ?? '';
}

/** Code as coloured HTML; undefined until it is ready, and for code that stays plain. */
export function useHighlighted(text: string, language: string): string | undefined {
  const [done, setDone] = useState<{ readonly text: string; readonly html: string | undefined }>();
  useEffect(() => {
    let isOver = false;
    highlighted(text, language).then((html) => isOver || setDone({ text, html }));
    return () => {
      isOver = true;
    };
  }, [text, language]);
  return done?.text === text ? done.html : undefined;
}

/** The only pieces of the highlighter's HTML: spans, ends of spans, and escaped text. */
const PIECES = /<span[^>]*>|<\/span>|\n|[^<\n]+/g;
const END = '</span>';

/** Coloured code, cut into lines. A colour over several lines ends with each line and begins again in the next. */
export function htmlLines(html: string): readonly string[] {
  const lines: string[] = [];
  const open: string[] = [];
  let line = '';
  for (const [piece] of html.matchAll(PIECES)) {
    if (piece === '\n') {
      lines.push(line + END.repeat(open.length));
      line = open.join('');
      continue;
    }
    if (piece === END) open.pop();
    else if (piece.startsWith('<')) open.push(piece);
    line += piece;
  }
  return [...lines, line];
}
