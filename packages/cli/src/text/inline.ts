/** Markdown within a line: bold, italic, code, links. What does not close stays as it is written. */
import type { Style } from './style.js';

/** Longer lines are not prose: they are shown as they are. */
const LINE_MAX_CHARACTERS = 5_000;

const TOKENS = [
  /(?<ticks>`+)(?<code>.+?)\k<ticks>(?!`)/,
  /!?\[(?<label>[^\][]*)\]\((?<url>[^()\s]+)(?:\s+"[^"]*")?\)/,
  /\*\*(?<bold>(?:[^*]|\*(?!\*))+)\*\*/,
  /(?<!\w)__(?<bold2>[^_]+)__(?!\w)/,
  /~~(?<strike>[^~]+)~~/,
  /(?<![\w*])\*(?<italic>[^\s*](?:[^*]*[^\s*])?)\*(?![\w*])/,
  /(?<![\w_])_(?<italic2>[^\s_](?:[^_]*[^\s_])?)_(?![\w_])/,
  /<(?<auto>https?:\/\/[^>\s]+)>/,
  /\\(?<escaped>[\\`*_{}[\]()#+.!~|>-])/,
];
const TOKEN = new RegExp(TOKENS.map(({ source }) => source).join('|'), 'g');

export function inline(text: string, style: Style): string {
  if (text.length > LINE_MAX_CHARACTERS) return text;
  let result = '';
  let from = 0;
  for (const match of text.matchAll(TOKEN)) {
    result += text.slice(from, match.index) + styled(match[0], match.groups ?? {}, style);
    from = match.index + match[0].length;
  }
  return result + text.slice(from);
}

type Groups = Readonly<Record<string, string | undefined>>;

function styled(whole: string, groups: Groups, style: Style): string {
  const { code, label, url, bold = groups.bold2, strike, italic = groups.italic2, auto, escaped } = groups;
  if (code !== undefined) return style.cyan(code.length > 2 ? code.replace(/^ (.*) $/, '$1') : code);
  if (url !== undefined) return style.link(inline(label || url, style), url);
  if (bold !== undefined) return style.bold(inline(bold, style));
  if (strike !== undefined) return style.strike(inline(strike, style));
  if (italic !== undefined) return style.italic(inline(italic, style));
  return auto === undefined ? (escaped ?? whole) : style.link(auto, auto);
}
