/** Coloured code, cut into lines. A colour that goes over several lines ends with each and begins again in the next. */

/** The highlighter writes nothing but these: spans, the ends of spans, and escaped text. */
const PIECES = /<span[^>]*>|<\/span>|\n|[^<\n]+/g;
const END = '</span>';

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
