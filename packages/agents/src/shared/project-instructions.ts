/**
 * The project's instructions for agents, for the system prompt: AGENTS.md and CLAUDE.md of the repository, from its
 * root down to the session's folder, and of the folders below it in which the model has worked with files. They are
 * read again for every request.
 */
import { access, stat } from 'node:fs/promises';
import path from 'node:path';
import { isInside, resolveInside, shownPath } from '@atrium/core/util/paths.js';
import { joined } from '@atrium/core/util/prompt-sections.js';
import { readLines } from '@atrium/core/util/streams.js';
import { sizeText } from '@atrium/core/util/text.js';

/** In each folder, in this order. */
const FILES = ['AGENTS.md', 'CLAUDE.md'] as const;
/** Used in a folder that has neither of them. */
const INSTEAD = '.github/copilot-instructions.md';

/** How much of one file goes into the prompt. */
export const INSTRUCTION_FILE_MAX_BYTES = 32 * 2 ** 10;
/** How much of all files together; files that no longer fit are named. */
export const INSTRUCTIONS_MAX_CHARACTERS = 96 * 2 ** 10;
/** How many folders above a session's folder, and below it, are searched: the nearest above, the last touched below. */
const PLACES_MAX = 64;

interface InstructionsRequest {
  /** The session's folders. */
  readonly folders: readonly string[];
  /** Files and folders that the model has worked with, as it named them. */
  readonly touched: readonly string[];
  readonly signal: AbortSignal;
}

/** A folder that may have instructions. */
interface Place {
  readonly folder: string;
  /**
   * Links are followed only to files inside this folder: a project must not show the model other files of the machine.
   */
  readonly within: string;
  /** The name of a file in the prompt. */
  readonly shown: (file: string) => string;
  /** It is below the session's folder, and its instructions are for the files in it. */
  readonly isNested: boolean;
}

/**
 * The instructions; empty when the project has none. The most general ones come first, those nearest to the files last.
 */
export async function projectInstructions(request: InstructionsRequest): Promise<string> {
  return joined(withinRoom(await found(request)).map(({ prompt }) => prompt));
}

/** A file with instructions, for people. */
export interface InstructionsFile {
  /** The real path. */
  readonly file: string;
  readonly name: string;
  readonly bytes: number;
  readonly isNested?: boolean;
  readonly state?: 'cut' | 'left-out';
}

/** The files that `projectInstructions` would read, in the same order. */
export async function instructionFiles(request: InstructionsRequest): Promise<InstructionsFile[]> {
  return withinRoom(await found(request)).map(({ real, name, bytes, isNested, note, hasRoom }) => ({
    ...{ file: real, name, bytes },
    ...(isNested && { isNested }),
    ...(hasRoom ? note !== '' && { state: 'cut' as const } : { state: 'left-out' as const }),
  }));
}

async function found(request: InstructionsRequest): Promise<Instructions[]> {
  const { folders, signal } = request;
  const above = await Promise.all(folders.map((folder) => placesAbove(folder, folders.length > 1)));
  const places = [...above.flat(), ...placesBelow(request)];
  const all = await Promise.all(places.map((place) => instructionsIn(place, signal)));
  return withoutRepeats(all.flat());
}

/** The root of the repository that contains a folder; undefined when it is in none. */
export async function repositoryOf(folder: string): Promise<string | undefined> {
  for (let place = path.resolve(folder); ; place = path.dirname(place)) {
    if (await exists(path.join(place, '.git'))) return place;
    if (place === path.dirname(place)) return undefined;
  }
}

function exists(file: string): Promise<boolean> {
  return access(file).then(
    () => true,
    () => false,
  );
}

/** From the root of the repository down to the session's folder. Outside a repository, only the session's folder. */
async function placesAbove(given: string, isOneOfSeveral: boolean): Promise<Place[]> {
  const folder = path.resolve(given);
  const root = (await repositoryOf(folder)) ?? folder;
  const shown = shownFrom(folder, isOneOfSeveral);
  const above = [root, ...foldersBetween(root, folder)].slice(-PLACES_MAX);
  return above.map((place) => ({ folder: place, within: place, shown, isNested: false }));
}

/**
 * The folders of touched files below the session's folder, sorted by name, so that a folder comes before those in it.
 */
function placesBelow({ folders, touched }: InstructionsRequest): Place[] {
  const places = new Map<string, Place>();
  const roots = folders.map((folder) => path.resolve(folder));
  for (const name of touched) {
    const file = path.resolve(roots[0] ?? '', name);
    const within = roots.find((root) => isInside(root, file));
    if (within === undefined) continue;
    const shown = shownFrom(within, roots.length > 1);
    for (const folder of foldersBetween(within, file)) {
      places.delete(folder);
      places.set(folder, { folder, within, shown, isNested: true });
    }
  }
  return [...places.values()].slice(-PLACES_MAX).sort((one, other) => (one.folder < other.folder ? -1 : 1));
}

/**
 * The folders from one folder down to a path in it, outermost first. Includes the path itself, which may be a folder.
 */
function foldersBetween(outer: string, inner: string): string[] {
  const names = path.relative(outer, inner).split(path.sep).filter(Boolean);
  return names.map((_, index) => path.join(outer, ...names.slice(0, index + 1)));
}

/** Names files relative to the only folder, as tools do; with several folders, absolute. */
function shownFrom(folder: string, isOneOfSeveral: boolean): Place['shown'] {
  return (file) => (isOneOfSeveral ? file : shownPath(folder, file));
}

interface Instructions {
  readonly real: string;
  /** The file's name in the prompt. */
  readonly name: string;
  readonly bytes: number;
  readonly isNested: boolean;
  /** Says where the instructions come from. */
  readonly head: string;
  readonly text: string;
  readonly note: string;
}

async function instructionsIn(place: Place, signal: AbortSignal): Promise<Instructions[]> {
  const read = (name: string) => readInstructions(place, name, signal).catch(() => undefined);
  const both = (await Promise.all(FILES.map(read))).filter((found) => found !== undefined);
  if (both.length > 0 || place.isNested) return both;
  const instead = await read(INSTEAD);
  return instead ? [instead] : [];
}

async function readInstructions(place: Place, name: string, signal: AbortSignal): Promise<Instructions | undefined> {
  const { folder, within, shown, isNested } = place;
  const file = path.join(folder, name);
  const { real } = await resolveInside(within, file);
  const about = await stat(real);
  if (!about.isFile()) return undefined;
  const range = { first: 1, last: Number.MAX_SAFE_INTEGER, maxBytes: INSTRUCTION_FILE_MAX_BYTES };
  const lines = await readLines(real, range, signal);
  const text = lines.kind === 'binary' ? '' : lines.text.trim();
  if (lines.kind === 'binary' || text === '') return undefined;
  const whose = isNested ? `the files in ${shown(folder)}` : 'this project';
  const head = `Instructions ${isNested ? 'for' : 'of'} ${whose}, from ${shown(file)}:`;
  const size = sizeText(INSTRUCTION_FILE_MAX_BYTES);
  const note = lines.cut ? `\n[Cut after ${size}; the rest is in the file.]` : '';
  return { real, name: shown(file), bytes: about.size, isNested, head, text, note };
}

/** Drops repeats: a file found under two names, and a copy of it, count once, at their first place. */
function withoutRepeats(all: readonly Instructions[]): Instructions[] {
  const known = new Set<string>();
  return all.filter(({ real, text }) => {
    const isKnown = known.has(`file ${real}`) || known.has(`text ${text}`);
    known.add(`file ${real}`).add(`text ${text}`);
    return !isKnown;
  });
}

interface Placed extends Instructions {
  readonly hasRoom: boolean;
  readonly prompt: string;
}

function withinRoom(all: readonly Instructions[]): Placed[] {
  let left = INSTRUCTIONS_MAX_CHARACTERS;
  return all.map((each) => {
    const { head, text, note } = each;
    const hasRoom = text.length <= left;
    if (hasRoom) left -= text.length;
    const prompt = hasRoom ? `${head}\n\n${text}${note}` : `${head}\n\n[Left out for want of room.]`;
    return { ...each, hasRoom, prompt };
  });
}
