/** How a container's files are read, wherever they are: in a folder of this machine, or at a client. */
import path from 'node:path';
import type { WarningKind } from './warnings.js';

export interface FileEntry {
  readonly name: string;
  readonly kind: 'file' | 'folder';
}

/**
 * Paths are relative to the container, with forward slashes; the container itself is the empty path. An implementation
 * throws `FileProblem` for one file that must not or cannot be read, and `LoadFailure` when nothing can be read at all.
 */
export interface PluginFiles {
  /** What a folder holds; undefined when there is no such folder. */
  list(path: string): Promise<readonly FileEntry[] | undefined>;
  /** The text of a file; undefined when there is no such file. */
  read(path: string, maxBytes: number): Promise<string | undefined>;
  uri(path: string): string;
}

/** Why one file is left out. */
export class FileProblem extends Error {
  override readonly name = 'FileProblem';

  constructor(
    readonly kind: Extract<WarningKind, 'path-escapes' | 'path-missing' | 'limit-exceeded'>,
    message: string,
  ) {
    super(message);
  }
}

/** A folder inside the container, as if it were one itself. */
export function filesBelow(files: PluginFiles, folder: string): PluginFiles {
  const below = (inner: string) => joined(folder, inner);
  return {
    list: (inner) => files.list(below(inner)),
    read: (inner, maxBytes) => files.read(below(inner), maxBytes),
    uri: (inner) => files.uri(below(inner)),
  };
}

export function joined(folder: string, name: string): string {
  const whole = path.posix.join(folder, name);
  return whole === '.' ? '' : whole;
}

export function parentOf(file: string): string {
  const parent = path.posix.dirname(file);
  return parent === '.' ? '' : parent;
}

export function baseName(file: string): string {
  return path.posix.basename(file);
}

/** The names of the folders that lead to a container, and its own at the end. */
export function folderNames(files: PluginFiles): string[] {
  return files
    .uri('')
    .split(/[/\\]+/)
    .filter(Boolean)
    .map(decoded);
}

function decoded(name: string): string {
  try {
    return decodeURIComponent(name);
  } catch {
    return name;
  }
}

/** The same order on every machine and in every language. */
export function byCodeUnits(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}
