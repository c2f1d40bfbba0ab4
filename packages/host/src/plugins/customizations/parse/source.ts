/** Handles of children. They stay the same when a container is read again, so that toggles keep their meaning. */

import type { ChildCustomizationType } from '@atrium/protocol';
import { CONTAINER_MAX_BYTES, FILE_MAX_BYTES } from '../limits.js';
import { baseName, type FileEntry, FileProblem, joined, type PluginFiles, parentOf } from './files.js';
import type { Place } from './manifest.js';
import type { MarkdownFile } from './markdown.js';
import type { Surroundings } from './placeholders.js';
import type { Warnings } from './warnings.js';

/** `declaration` tells several declarations of one file apart. */
export function childId(containerId: string, uri: string, declaration?: string): string {
  const base = `${containerId}:${uri}`.replaceAll('#', '%23');
  return declaration === undefined ? base : `${base}#${declaration}`;
}

/** Reads the component files of one container: what cannot be read becomes a warning and counts as absent. */

const BOM = '\uFEFF';

export class Reader {
  readonly #files: PluginFiles;
  readonly #warnings: Warnings;
  #bytesLeft = CONTAINER_MAX_BYTES;

  constructor(files: PluginFiles, warnings: Warnings) {
    this.#files = files;
    this.#warnings = warnings;
  }

  uri(path: string): string {
    return this.#files.uri(path);
  }

  /** Hidden entries do not count anywhere. */
  async list(path: string): Promise<readonly FileEntry[] | undefined> {
    const entries = await this.#tried(path, () => this.#files.list(path));
    return entries?.filter(({ name }) => !name.startsWith('.'));
  }

  /** Without the mark that some programs put before UTF-8. */
  async read(path: string): Promise<string | undefined> {
    if (this.#bytesLeft <= 0) {
      this.#warnings.add(
        'limit-exceeded',
        `There is more than ${CONTAINER_MAX_BYTES} bytes of text; the rest is left out.`,
      );
      return undefined;
    }
    const text = await this.#tried(path, () => this.#files.read(path, FILE_MAX_BYTES));
    if (text === undefined) return undefined;
    this.#bytesLeft -= Buffer.byteLength(text);
    return text.startsWith(BOM) ? text.slice(BOM.length) : text;
  }

  /** What is at a path. `refused` has been warned about already. */
  async kindOf(path: string): Promise<FileEntry['kind'] | 'missing' | 'refused'> {
    try {
      if (await this.#files.list(path)) return 'folder';
      const siblings = await this.#files.list(parentOf(path));
      return siblings?.find(({ name }) => name === baseName(path))?.kind ?? 'missing';
    } catch (error) {
      this.#warn(path, error);
      return 'refused';
    }
  }

  async #tried<Value>(path: string, work: () => Promise<Value>): Promise<Value | undefined> {
    try {
      return await work();
    } catch (error) {
      return this.#warn(path, error);
    }
  }

  #warn(path: string, error: unknown): undefined {
    if (!(error instanceof FileProblem)) throw error;
    this.#warnings.add(error.kind, error.message, path);
  }
}

/** What every component needs to be read: the files, a place for warnings, and the facts about its container. */

export interface Source {
  readonly containerId: string;
  /** The name of the container's folder. */
  readonly folderName: string;
  readonly reader: Reader;
  readonly warnings: Warnings;
  readonly surroundings: Surroundings;
  /** Whether what does not conform is refused instead of repaired. */
  readonly isStrict: boolean;
}

/** What the host knows of every part, whether clients get to see it or not. */
export interface PartBase {
  readonly id: string;
  readonly uri: string;
  readonly name: string;
}

/** The common members of a part that is a whole file. */
export function filePart({ containerId }: Source, { uri }: MarkdownFile, name: string): PartBase {
  return { id: childId(containerId, uri), uri, name };
}

/** The first part of a name counts. */
export function firstByName<Part extends PartBase>(
  { warnings }: Source,
  type: ChildCustomizationType,
  parts: readonly Part[],
): readonly Part[] {
  const seen = new Set<string>();
  return parts.filter(({ name, uri }) => {
    if (!seen.has(name)) return seen.add(name);
    warnings.add('duplicate-name', `There is more than one ${type} "${name}"; the first one counts (not ${uri}).`);
    return false;
  });
}

/** Finds the files of one kind of component in its places. */

/** Files that other kinds of customization claim by their endings, in whatever folder they are. */
const CLAIMED = { agent: ['.agent.md'], prompt: ['.prompt.md'], rule: ['.instructions.md', '.mdc'] } as const;

/** Whether a Markdown file can be of a kind: no other kind claims it. */
export function isMarkdownOf(kind: keyof typeof CLAIMED, name: string): boolean {
  if (name.startsWith('.') || name === 'SKILL.md') return false;
  const owner = Object.entries(CLAIMED).find(([, endings]) => endings.some((ending) => name.endsWith(ending)))?.[0];
  return owner === undefined ? name.endsWith('.md') : owner === kind;
}

/** Paths in the order in which they count, each once. Folders are not searched any deeper. */
export async function componentFiles(
  source: Source,
  places: readonly Place[],
  isWanted: (name: string) => boolean,
): Promise<readonly string[]> {
  const found = new Set<string>();
  for (const place of places) {
    if (!(await isFolder(source, place))) {
      if (await isNamedFile(source, place, isWanted)) found.add(place.path);
      continue;
    }
    for (const { name, kind } of (await source.reader.list(place.path)) ?? []) {
      if (kind === 'file' && isWanted(name)) found.add(joined(place.path, name));
    }
  }
  return [...found];
}

/** The JSON files of a component: the places themselves, or the file of the usual name in a place that is a folder. */
export async function configFiles(
  source: Source,
  places: readonly Place[],
  usualName: string,
): Promise<readonly string[]> {
  const found = new Set<string>();
  for (const place of places) {
    const kind = await source.reader.kindOf(place.path);
    if (kind === 'file') found.add(place.path);
    else if (kind === 'folder') found.add(joined(place.path, usualName));
    else if (kind === 'missing') warnIfNamed(source, place);
  }
  return [...found];
}

async function isFolder({ reader }: Source, { path, isNamed }: Place): Promise<boolean> {
  return !isNamed || (await reader.kindOf(path)) === 'folder';
}

async function isNamedFile(source: Source, place: Place, isWanted: (name: string) => boolean): Promise<boolean> {
  const kind = await source.reader.kindOf(place.path);
  if (kind === 'missing') warnIfNamed(source, place);
  if (kind !== 'file') return false;
  if (isWanted(baseName(place.path))) return true;
  const message = `"${place.path}" is not a file of the kind that is wanted there, so it is left out.`;
  source.warnings.add('manifest-field-invalid', message, place.path);
  return false;
}

export function warnIfNamed({ warnings }: Source, { path, isNamed }: Place): void {
  if (isNamed) warnings.add('path-missing', `"${path}" is named in the manifest, but it is not there.`, path);
}

/** Optional members are absent, not undefined: what is sent and what is compared is then the same. */

type Present<Members> = { [Key in keyof Members]?: Exclude<Members[Key], undefined> };

export function present<Members extends object>(members: Members): Present<Members> {
  const entries = Object.entries(members).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries) as Present<Members>;
}
