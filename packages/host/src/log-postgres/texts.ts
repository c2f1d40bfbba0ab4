/**
 * Names in the engine. PostgreSQL's text holds every character but NUL, which a client may well put into its id or into
 * a URI; JSON never contains it. This encoding preserves the order of names, and their prefixes.
 */

/** NUL becomes 1 1, and 1 itself becomes 1 2. */
export function nameToEngine(name: string): string {
  if (!name.includes('\0') && !name.includes('\x01')) return name;
  return name.replaceAll('\x01', '\x01\x02').replaceAll('\0', '\x01\x01');
}

export function nameFromEngine(text: string): string {
  if (!text.includes('\x01')) return text;
  let name = '';
  for (let at = 0; at < text.length; at++) {
    if (text[at] !== '\x01') name += text[at];
    else name += text[++at] === '\x01' ? '\0' : '\x01';
  }
  return name;
}
