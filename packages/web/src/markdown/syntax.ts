/**
 * Markdown as agents write it: with formulas (`$…$`, `$$…$$`, `\(…\)`, `\[…\]`), footnotes, and names of files that the
 * page can
 * open. Their details go into `data-` attributes, which `decorate.ts` reads.
 */
import { FILE_PLACE_IN_TEXT, isFileName, readFileReference } from '@atrium/protocol/ahp-1';
import { Marked, type Token, type TokenizerAndRendererExtension } from 'marked';

export const WEB_LINK = /^(?:https?:|mailto:)/i;
/** Pictures that travel in the text itself. SVG is left out: it is a document, not a picture. */
export const INLINE_IMAGE = /^data:image\/(?:png|jpeg|gif|webp);base64,[a-z0-9+/=\s]*$/i;
export const FOOTNOTE = '#footnote-';
/** Longer formulas stay as text. */
export const MATH_MAX_CHARACTERS = 4_000;

const BLOCK_MATH = new RegExp(
  `^ {0,3}(?:\\$\\$([^$]{1,${MATH_MAX_CHARACTERS}})\\$\\$|\\\\\\[([\\s\\S]{1,${MATH_MAX_CHARACTERS}}?)\\\\\\])[ \\t]*(?:\\n+|$)`,
);
const BLOCK_MATH_START = /(?:^|\n) {0,3}(?:\$\$|\\\[)/;

const blockMath: TokenizerAndRendererExtension = {
  name: 'blockMath',
  level: 'block',
  start: (text) => indexOf(text, BLOCK_MATH_START),
  tokenizer(text) {
    const found = BLOCK_MATH.exec(text);
    const tex = (found?.[1] ?? found?.[2])?.trim();
    return found && tex ? { type: 'blockMath', raw: found[0], text: tex } : undefined;
  },
  renderer: ({ text }) => `<p>${mathElement(text, 'block')}</p>`,
};

/** Money is not math: no blank at the beginning or end, and no letter or digit around the marks. */
const INLINE_MATH = [
  { pattern: /^\$\$([^$\n]{1,4000})\$\$/, kind: 'block' },
  { pattern: /^\$(?![\s$])((?:\\[^\n]|[^\\$\n]){1,1000}?)(?<![\s\\])\$(?![\w$])/, kind: 'inline' },
  { pattern: /^\\\(([^\n]{1,1000}?)\\\)/, kind: 'inline' },
  { pattern: /^\\\[([^\n]{1,1000}?)\\\]/, kind: 'block' },
] as const;

const inlineMath: TokenizerAndRendererExtension = {
  name: 'inlineMath',
  level: 'inline',
  start: (text) => indexOf(text, /\$|\\[([]/),
  tokenizer(text, before) {
    if (text.startsWith('$') && /[\w$\\]$/.test(before.at(-1)?.raw ?? '')) return undefined;
    for (const { pattern, kind } of INLINE_MATH) {
      const found = pattern.exec(text);
      if (found?.[1]) return { type: 'inlineMath', raw: found[0], text: found[1].trim(), kind };
    }
    return undefined;
  },
  renderer: ({ text, kind }) => mathElement(text, kind),
};

/** A formula is code until it is drawn, and if drawing fails. */
function mathElement(tex: string, kind: 'inline' | 'block'): string {
  return `<code data-math="${kind}">${escapeText(tex)}</code>`;
}

const FOOTNOTE_ID = '([\\w-]{1,40})';
const FOOTNOTE_TEXT = new RegExp(`^\\[\\^${FOOTNOTE_ID}\\]:[ \\t]+([^\\n]+(?:\\n(?!\\[\\^|\\n)[^\\n]+)*)(?:\\n+|$)`);
const FOOTNOTE_MARK = new RegExp(`^\\[\\^${FOOTNOTE_ID}\\](?!:)`);

const footnoteText: TokenizerAndRendererExtension = {
  name: 'footnoteText',
  level: 'block',
  start: (text) => indexOf(text, /(?:^|\n)\[\^[\w-]+\]:/),
  tokenizer(text) {
    const found = FOOTNOTE_TEXT.exec(text);
    if (!found) return undefined;
    const [raw, id, words = ''] = found;
    return { type: 'footnoteText', raw, id, tokens: this.lexer.inline(words) };
  },
  renderer(token) {
    const words = this.parser.parseInline(token.tokens ?? []);
    const back = `<a href="${FOOTNOTE}back-${token.id}">↩</a>`;
    return `<p data-footnote="${token.id}"><sup>${token.id}</sup> ${words} ${back}</p>`;
  },
};

const footnoteMark: TokenizerAndRendererExtension = {
  name: 'footnoteMark',
  level: 'inline',
  start: (text) => indexOf(text, /\[\^/),
  tokenizer(text) {
    const found = FOOTNOTE_MARK.exec(text);
    return found ? { type: 'footnoteMark', raw: found[0], id: found[1] } : undefined;
  },
  renderer: ({ id }) => `<sup><a href="${FOOTNOTE}${id}">${id}</a></sup>`,
};

const filePlace: TokenizerAndRendererExtension = {
  name: 'filePlace',
  level: 'inline',
  start: (text) => indexOf(text, FILE_PLACE_IN_TEXT),
  tokenizer(text, before) {
    const found = FILE_PLACE_IN_TEXT.exec(text.slice(0, PLACE_LOOK_CHARACTERS));
    if (found?.index !== 0 || /[\w/:.@-]$/.test(before.at(-1)?.raw ?? '')) return undefined;
    return { type: 'filePlace', raw: found[0] };
  },
  renderer: ({ raw }) => fileElement(raw, escapeText(raw)),
};

const PLACE_LOOK_CHARACTERS = 500;

function fileElement(place: string, html: string): string {
  return `<span data-file="${escapeText(place)}">${html}</span>`;
}

export const marked = new Marked({
  gfm: true,
  extensions: [blockMath, inlineMath, footnoteText, footnoteMark, filePlace],
  renderer: {
    image({ href, text }) {
      const label = escapeText(text || 'image');
      if (INLINE_IMAGE.test(href)) return `<img src="${href}" alt="${label}">`;
      if (WEB_LINK.test(href)) return `<a href="${escapeText(href)}">Image: ${label}</a>`;
      const file = readFileReference(decoded(href));
      return file ? `<span data-image="${escapeText(file.path)}">Image: ${label}</span>` : `Image: ${label}`;
    },
    link({ href, tokens }) {
      const words = this.parser.parseInline(withoutPlaces(tokens));
      if (WEB_LINK.test(href)) return `<a href="${escapeText(href)}">${words}</a>`;
      return readFileReference(decoded(href)) ? fileElement(decoded(href), words) : words;
    },
    codespan({ text }) {
      const code = `<code>${escapeText(text)}</code>`;
      return isFileName(text) ? fileElement(text, code) : code;
    },
    listitem({ task, tokens }) {
      return `<li${task ? ' data-task=""' : ''}>${this.parser.parse(tokens)}</li>\n`;
    },
    checkbox: ({ checked }) => (checked ? '☑ ' : '☐ '),
  },
});

/** No link within a link. */
function withoutPlaces(tokens: readonly Token[]): Token[] {
  return tokens.map((token): Token => {
    const isPlace = token.type === 'filePlace' || (token.type === 'codespan' && isFileName(token.text));
    return isPlace ? { type: 'text', raw: token.raw, text: token.raw.replace(/^`+|`+$/g, ''), escaped: false } : token;
  });
}

function decoded(href: string): string {
  try {
    return href.startsWith('file:') ? href : decodeURIComponent(href);
  } catch {
    return href;
  }
}

function indexOf(text: string, pattern: RegExp): number | undefined {
  const index = text.search(pattern);
  return index < 0 ? undefined : index;
}

export function escapeText(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
