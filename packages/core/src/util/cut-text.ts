/**
 * The beginning of a text, in memory of its own. A plain slice of a long text keeps all of it alive, so whatever is kept
 * for long must not be one.
 */
export function cutText(text: string, maxCharacters: number): string {
  if (text.length <= maxCharacters) return text;
  return Buffer.from(text.slice(0, maxCharacters), 'utf16le').toString('utf16le');
}
