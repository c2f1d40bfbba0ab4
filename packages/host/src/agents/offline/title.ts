/** A session's title, out of its first message. */

export const TITLE_MAX_CHARACTERS = 50;

export function titleFrom(message: string): string {
  const line = message.replace(/\s+/g, ' ').trim();
  return line.charAt(0).toUpperCase() + cut(line).slice(1);
}

/** At a space, if there is one not too far back. */
function cut(line: string): string {
  if (line.length <= TITLE_MAX_CHARACTERS) return line;
  const start = line.slice(0, TITLE_MAX_CHARACTERS - 1);
  const space = start.lastIndexOf(' ');
  return `${space > TITLE_MAX_CHARACTERS / 2 ? start.slice(0, space) : start}…`;
}
