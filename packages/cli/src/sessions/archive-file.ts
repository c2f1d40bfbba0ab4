/**
 * A session as one file: JSON Lines, so that a large one can be read and written piece by piece and looked at with
 * ordinary tools. The first line is the session without its turns; every further line is one finished turn, or a large
 * content that the turns behind it name.
 */
import type { SessionState, Turn } from '@atrium/protocol';

export const FORMAT = 'atrium-session';
export const FORMAT_VERSION = 2;

export interface ArchiveHeader {
  readonly format: typeof FORMAT;
  readonly version: number;
  readonly exportedAt: string;
  /** How many of them follow: a file that was cut off is not taken for a whole one. */
  readonly turns: number;
  readonly state: Omit<SessionState, 'turns'>;
}

export function headerOf(state: SessionState, turns: number, exportedAt: string): ArchiveHeader {
  const { turns: _turns, ...rest } = state;
  return { format: FORMAT, version: FORMAT_VERSION, exportedAt, turns, state: rest };
}

export interface KeptContent {
  /** The name by which turns know it. */
  readonly content: string;
  readonly encoding: 'utf-8' | 'base64';
  readonly data: string;
}

export interface SessionArchive {
  readonly header: ArchiveHeader;
  readonly turns: readonly Turn[];
  readonly contents: readonly KeptContent[];
}

/** What is in the turns is checked by the host that takes them in. */
export function parseArchive(text: string): SessionArchive {
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  const [header, ...rest] = lines.map((line, index) => parsedLine(line, index + 1));
  if (!isHeader(header)) throw new Error('line 1 is no header: this is not a file of "atrium sessions export"');
  if (header.version > FORMAT_VERSION)
    throw new Error(
      `the file has version ${header.version}, and this program reads up to ${FORMAT_VERSION}: update it`,
    );
  const contents = rest.filter(isContent);
  const turns = rest.filter((line) => !isContent(line));
  if (turns.length !== header.turns)
    throw new Error(`the file should have ${header.turns} turns and has ${turns.length}: it is not complete`);
  return { header, turns: turns as Turn[], contents };
}

function parsedLine(line: string, number: number): unknown {
  try {
    return JSON.parse(line);
  } catch {
    throw new Error(`line ${number} is not JSON`);
  }
}

function isContent(value: unknown): value is KeptContent {
  if (typeof value !== 'object' || value === null) return false;
  const { content, encoding, data } = value as Record<keyof KeptContent, unknown>;
  return typeof content === 'string' && (encoding === 'utf-8' || encoding === 'base64') && typeof data === 'string';
}

function isHeader(value: unknown): value is ArchiveHeader {
  if (typeof value !== 'object' || value === null) return false;
  const { format, version, turns, state } = value as Record<keyof ArchiveHeader, unknown>;
  return format === FORMAT && typeof version === 'number' && typeof turns === 'number' && typeof state === 'object';
}
