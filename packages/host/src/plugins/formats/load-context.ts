/**
 * Everything that is needed to read a component: the files within limits, a list for warnings, facts about its
 * container.
 */
import type { ChildCustomizationType } from '@atrium/protocol/ahp-1';
import { CONTAINER_MAX_BYTES, FILE_MAX_BYTES } from './limits.js';
import type { ComponentLocation } from './manifest.js';
import type { ExpansionContext } from './placeholders.js';
import { baseName, type FileEntry, FileProblem, joined, type PluginFiles, parentOf } from './plugin-files.js';
import type { Warnings } from './warnings.js';

export interface LoadContext {
  readonly containerId: string;
  /** The name of the container's folder. */
  readonly folderName: string;
  readonly reader: Reader;
  readonly warnings: Warnings;
  readonly expansion: ExpansionContext;
  /** Whether the host refuses components that do not conform, instead of repairing them. */
  readonly isStrict: boolean;
}

/** Members that every part has; clients see these. */
export interface PartBase {
  readonly id: string;
  readonly uri: string;
  readonly name: string;
}

/** The common members of a part that is a whole file. */
export function filePart({ containerId }: LoadContext, { uri }: { readonly uri: string }, name: string): PartBase {
  return { id: childId(containerId, uri), uri, name };
}

/** Of several parts with one name, the first counts. */
export function firstByName<Part extends PartBase>(
  { warnings }: LoadContext,
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

/** File name endings by which a kind of customization claims files, in every folder. */
const CLAIMED = { agent: ['.agent.md'], prompt: ['.prompt.md'], rule: ['.instructions.md', '.mdc'] } as const;

/** Whether a Markdown file can be of this kind, because no other kind claims it. */
export function isMarkdownOf(kind: keyof typeof CLAIMED, name: string): boolean {
  if (name.startsWith('.') || name === 'SKILL.md') return false;
  const owner = Object.entries(CLAIMED).find(([, endings]) => endings.some((ending) => name.endsWith(ending)))?.[0];
  return owner === undefined ? name.endsWith('.md') : owner === kind;
}

/** Paths in order of precedence, each once. Sub-folders are not searched. */
export async function componentFiles(
  context: LoadContext,
  locations: readonly ComponentLocation[],
  isWanted: (name: string) => boolean,
): Promise<readonly string[]> {
  const found = new Set<string>();
  for (const location of locations) {
    if (!(await isFolder(context, location))) {
      if (await isNamedFile(context, location, isWanted)) found.add(location.path);
      continue;
    }
    for (const { name, kind } of (await context.reader.list(location.path)) ?? []) {
      if (kind === 'file' && isWanted(name)) found.add(joined(location.path, name));
    }
  }
  return [...found];
}

/** The JSON files of a component: the locations themselves, or the usual file name in a location that is a folder. */
export async function configFiles(
  context: LoadContext,
  locations: readonly ComponentLocation[],
  usualName: string,
): Promise<readonly string[]> {
  const found = new Set<string>();
  for (const location of locations) {
    const kind = await context.reader.kindOf(location.path);
    if (kind === 'file') found.add(location.path);
    else if (kind === 'folder') found.add(joined(location.path, usualName));
    else if (kind === 'missing') warnIfNamed(context, location);
  }
  return [...found];
}

async function isFolder({ reader }: LoadContext, { path, isNamed }: ComponentLocation): Promise<boolean> {
  return !isNamed || (await reader.kindOf(path)) === 'folder';
}

async function isNamedFile(
  context: LoadContext,
  location: ComponentLocation,
  isWanted: (name: string) => boolean,
): Promise<boolean> {
  const kind = await context.reader.kindOf(location.path);
  if (kind === 'missing') warnIfNamed(context, location);
  if (kind !== 'file') return false;
  if (isWanted(baseName(location.path))) return true;
  const message = `"${location.path}" is not a file of the kind that is wanted there, so it is left out.`;
  context.warnings.add('manifest-field-invalid', message, location.path);
  return false;
}

export function warnIfNamed({ warnings }: LoadContext, { path, isNamed }: ComponentLocation): void {
  if (isNamed) warnings.add('path-missing', `"${path}" is named in the manifest, but does not exist.`, path);
}

const BOM = '\uFEFF';

/** Reads the component files of one container. A file that cannot be read becomes a warning and counts as absent. */
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

  /** Skips hidden entries, which never count. */
  async list(path: string): Promise<readonly FileEntry[] | undefined> {
    const entries = await this.#tried(path, () => this.#files.list(path));
    return entries?.filter(({ name }) => !name.startsWith('.'));
  }

  /** The text without the byte order mark that some programs write. */
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

  /** What is at a path. For `refused`, a warning has been added. */
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

/**
 * The id of a child stays the same when a container is read again, so that toggles keep their meaning. `declaration`
 * distinguishes several declarations in one file.
 */
export function childId(containerId: string, uri: string, declaration?: string): string {
  const base = `${containerId}:${uri}`.replaceAll('#', '%23');
  return declaration === undefined ? base : `${base}#${declaration}`;
}

type Present<Members> = { [Key in keyof Members]?: Exclude<Members[Key], undefined> };

/** Leaves out members without a value, so that an entry that is sent equals the one that it is compared with. */
export function present<Members extends object>(members: Members): Present<Members> {
  const entries = Object.entries(members).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries) as Present<Members>;
}
