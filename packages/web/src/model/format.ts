/** Formats numbers, times and places for people. */

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

export function ago(time: number, now: number): string {
  const passed = Math.max(0, now - time);
  if (passed < MINUTE_MS) return 'now';
  if (passed < HOUR_MS) return `${Math.floor(passed / MINUTE_MS)} min`;
  if (passed < DAY_MS) return `${Math.floor(passed / HOUR_MS)} h`;
  if (passed < 30 * DAY_MS) return `${Math.floor(passed / DAY_MS)} d`;
  return new Date(time).toLocaleDateString();
}

/** 0:42, 12:07, 1:02:03. */
export function clockText(milliseconds: number): string {
  const seconds = Math.max(0, Math.floor(milliseconds / 1_000));
  const [hours, minutes] = [Math.floor(seconds / 3_600), Math.floor(seconds / 60) % 60];
  const two = (value: number) => String(value).padStart(2, '0');
  return `${hours > 0 ? `${hours}:${two(minutes)}` : minutes}:${two(seconds % 60)}`;
}

/** 950, 1.2k, 34k, 1.2M. */
export function short(count: number): string {
  if (count < 1_000) return String(count);
  const [value, unit] = count < 1_000_000 ? [count / 1_000, 'k'] : [count / 1_000_000, 'M'];
  return `${value < 10 ? value.toFixed(1).replace(/\.0$/, '') : Math.round(value)}${unit}`;
}

/** 12 bytes, 3.4 kB, 12 MB. */
export function bytesText(bytes: number): string {
  if (bytes < 1_000) return plural(bytes, 'byte');
  const [value, unit] = bytes < 1_000_000 ? [bytes / 1_000, 'kB'] : [bytes / 1_000_000, 'MB'];
  return `${value < 10 ? value.toFixed(1) : Math.round(value)} ${unit}`;
}

export function plural(count: number, noun: string): string {
  return `${count.toLocaleString('en')} ${noun}${count === 1 ? '' : 's'}`;
}

/** A path for people: `file:///srv/my%20app` becomes `/srv/my app`. Anything else stays unchanged. */
export function pathOf(uri: string): string {
  if (!uri.startsWith('file://')) return uri;
  try {
    const path = decodeURIComponent(new URL(uri).pathname);
    return /^\/[a-z]:/i.test(path) ? path.slice(1) : path;
  } catch {
    return uri;
  }
}

export function lastPart(path: string): string {
  return path.split(/[\\/]/).filter(Boolean).at(-1) ?? path;
}

/** The path of a file relative to a folder. */
export function pathIn(uri: string, folder: string | undefined): string {
  const path = pathOf(uri);
  const base = folder === undefined ? '' : `${pathOf(folder).replace(/[\\/]$/, '')}/`;
  return base !== '' && path.startsWith(base) ? path.slice(base.length) : path;
}

/** The URI of a path; undefined if the path is not absolute. */
export function uriOf(path: string): string | undefined {
  const text = path.trim();
  if (text.startsWith('file://')) return text;
  const slashed = text.replaceAll('\\', '/');
  const rooted = /^[a-z]:\//i.test(slashed) ? `/${slashed}` : slashed;
  if (!rooted.startsWith('/')) return undefined;
  return `file://${rooted
    .split('/')
    .map(encodeURIComponent)
    .join('/')
    .replace(/^\/([a-z])%3A/i, '/$1:')}`;
}

/** Numbers equal titles: three shells are `bash`, `bash 2` and `bash 3`. */
export function distinct(titles: readonly string[]): readonly string[] {
  const seen = new Map<string, number>();
  return titles.map((title) => {
    const count = (seen.get(title) ?? 0) + 1;
    seen.set(title, count);
    return count === 1 ? title : `${title} ${count}`;
  });
}

/** True if every word of the query occurs in one of the texts. */
export function matches(query: string, ...texts: readonly (string | undefined)[]): boolean {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  const text = texts.join(' ').toLowerCase();
  return words.every((word) => text.includes(word));
}

export function asSentence(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
