/**
 * A session as one file: JSON Lines, so that a large one can be read and written piece by piece and looked at with
 * ordinary tools. The first line is the session without its turns; every further line is one finished turn.
 */
import type { SessionState, Turn } from '@atrium/protocol';

export const FORMAT = 'atrium-session';
export const FORMAT_VERSION = 1;

export interface ArchiveHeader {
  readonly format: typeof FORMAT;
  readonly version: number;
  readonly exportedAt: string;
  /** How many lines follow: a file that was cut off is not taken for a whole one. */
  readonly turns: number;
  readonly state: Omit<SessionState, 'turns'>;
}

export function headerOf(state: SessionState, turns: number, exportedAt: string): ArchiveHeader {
  const { turns: _turns, ...rest } = state;
  return { format: FORMAT, version: FORMAT_VERSION, exportedAt, turns, state: rest };
}

export interface SessionArchive {
  readonly header: ArchiveHeader;
  readonly turns: readonly Turn[];
}

/** What is in the turns is checked by the host that takes them in. */
export function parseArchive(text: string): SessionArchive {
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  const [header, ...turns] = lines.map((line, index) => parsedLine(line, index + 1));
  if (!isHeader(header)) throw new Error('line 1 is no header: this is not a file of "atrium sessions export"');
  if (header.version > FORMAT_VERSION)
    throw new Error(
      `the file has version ${header.version}, and this program reads up to ${FORMAT_VERSION}: update it`,
    );
  if (turns.length !== header.turns)
    throw new Error(`the file should have ${header.turns} turns and has ${turns.length}: it is not complete`);
  return { header, turns: turns as Turn[] };
}

function parsedLine(line: string, number: number): unknown {
  try {
    return JSON.parse(line);
  } catch {
    throw new Error(`line ${number} is not JSON`);
  }
}

function isHeader(value: unknown): value is ArchiveHeader {
  if (typeof value !== 'object' || value === null) return false;
  const { format, version, turns, state } = value as Record<keyof ArchiveHeader, unknown>;
  return format === FORMAT && typeof version === 'number' && typeof turns === 'number' && typeof state === 'object';
}
