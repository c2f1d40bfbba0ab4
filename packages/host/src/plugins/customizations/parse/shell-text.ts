/** Puts paths into a line for a shell, quoted so that spaces and signs in them mean nothing to it. */
import { expand, type Lookup } from './placeholders.js';

type Quote = '"' | "'" | undefined;

/** Signs that no shell takes for anything but themselves. */
const PLAIN = /^[\w@%+=:,./-]*$/;

/** `isWindows`: its shells know only double quotes around paths, and paths there never contain one. */
export function expandInShell(line: string, lookup: Lookup, isWindows: boolean): string {
  let quote: Quote;
  return pieces(line)
    .map((piece) => {
      if (!piece.startsWith('${')) {
        quote = quoteAfter(piece, quote, isWindows);
        return piece;
      }
      return expand(piece, (name) => {
        const value = lookup(name);
        return value === undefined ? undefined : quoted(value, quote, isWindows);
      });
    })
    .join('');
}

/** Placeholders, and the text between them. */
function pieces(line: string): readonly string[] {
  return line.split(/(\$\{\w+\})/);
}

/** Which quotes are open at the end of a piece of text. */
function quoteAfter(text: string, before: Quote, isWindows: boolean): Quote {
  let quote = before;
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at];
    if (character === '\\' && quote !== "'" && !isWindows) at += 1;
    else if (character === '"' && quote !== "'") quote = quote ? undefined : '"';
    else if (character === "'" && quote !== '"' && !isWindows) quote = quote ? undefined : "'";
  }
  return quote;
}

function quoted(value: string, quote: Quote, isWindows: boolean): string {
  if (isWindows) return quote || !/[^\w@+=:.,/\\-]/.test(value) ? value : `"${value}"`;
  if (quote === '"') return value.replace(/[\\"$`]/g, '\\$&');
  const inSingle = value.replaceAll("'", "'\\''");
  return quote === "'" ? inSingle : PLAIN.test(value) ? value : `'${inSingle}'`;
}
