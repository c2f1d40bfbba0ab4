/**
 * Where a call reads and writes, and whether a rule's pattern matches that place. Links are resolved before anything is
 * compared.
 */
import { readlinkSync, realpathSync } from 'node:fs';
import path from 'node:path';
import { glob } from '../util/glob.js';
import { isInGit, isInside } from '../util/paths.js';

export interface Places {
  /** The real paths of the session's folders. Relative paths start at the first. */
  readonly folders: readonly string[];
  readonly home: string;
  /** The path with links resolved, as far as it exists. */
  realPath(file: string): string;
}

/** Where a path leads; undefined when that is uncertain. */
export function placeOf(places: Places, file: string, isHome = false): string | undefined {
  if (file.includes('\0')) return undefined;
  const written = isHome ? path.join(places.home, file.slice(1)) : file;
  const [first] = places.folders;
  if (!path.isAbsolute(written) && first === undefined) return undefined;
  return places.realPath(path.resolve(first ?? '/', written));
}

export function isInFolders({ folders }: Places, real: string): boolean {
  return folders.some((folder) => isInside(folder, real));
}

const LINKS_MAX = 40;

/**
 * The path with links resolved. What does not exist yet is resolved from its nearest existing folder. A link to
 * something missing is followed, too, because writing through it would create the file there.
 */
export function realPath(file: string, links = 0): string {
  const missing: string[] = [];
  for (let at = path.resolve(file); ; at = path.dirname(at)) {
    try {
      return path.join(realpathSync.native(at), ...missing);
    } catch {
      const target = links < LINKS_MAX ? linkTarget(at) : undefined;
      if (target !== undefined)
        return realPath(path.join(path.resolve(path.dirname(at), target), ...missing), links + 1);
      if (path.dirname(at) === at) return path.resolve(file);
      missing.unshift(path.basename(at));
    }
  }
}

function linkTarget(file: string): string | undefined {
  try {
    return readlinkSync(file);
  } catch {
    return undefined;
  }
}

/**
 * Compares a file pattern with a real path. `names` is true when the pattern names a place outside the session's
 * folders.
 */
export function fitsFile(
  places: Places,
  pattern: string,
  real: string,
): { readonly fits: boolean; readonly names: boolean } {
  const isWhole = path.isAbsolute(pattern) || /^~\//.test(pattern);
  if (!isWhole) {
    // `./notes.md` is that one file; `notes.md` is every file of that name.
    const clean = pattern.replace(/^(?:\.\/)+/, 'x/');
    const isAnchored = clean !== pattern;
    const inner = places.folders
      .filter((folder) => isInside(folder, real))
      .map((folder) => path.relative(folder, real));
    return { fits: inner.some((relative) => fits(clean, isAnchored ? `x/${relative}` : relative)), names: false };
  }
  const whole = pattern.startsWith('~/') ? path.join(places.home, pattern.slice(2)) : pattern;
  const literal = /^[^*?[{\\]*/.exec(whole)?.[0] ?? '';
  const isExact = literal.length === whole.length;
  const base = isExact ? whole : literal.slice(0, literal.lastIndexOf('/'));
  const rest = whole.slice(base.length);
  const resolved = base === '' ? '' : places.realPath(base);
  // `/**` names no particular place.
  const names = resolved !== '' && resolved !== '/';
  return {
    fits: isExact
      ? real === resolved
      : real.startsWith(`${resolved}/`) && fits(`x${rest}`, `x${real.slice(resolved.length)}`),
    names,
  };
}

function fits(pattern: string, file: string): boolean {
  try {
    return glob(pattern)(file.split(path.sep).join('/'));
  } catch {
    return false;
  }
}

/** Files that tell programs what to run. Accepting edits does not cover them. */
const RUN_BY_OTHERS =
  /(?:^|\/)(?:\.(?:claude|vscode|idea|husky|github|devcontainer|opencode|cursor|gemini|codex)\/|(?:atrium\.json|\.mcp\.json|\.envrc|\.gitmodules|\.gitattributes|\.gitconfig|\.npmrc|\.yarnrc(?:\.yml)?|\.pnpmfile\.cjs|\.bashrc|\.bash_profile|\.profile|\.zshrc|\.zshenv)$)/i;

/**
 * True when an edit of this file may be accepted without a question: it is inside the folders, and no program takes it
 * as instructions to run something.
 */
export function isOrdinaryFile(places: Places, real: string): boolean {
  const folder = places.folders.find((each) => isInside(each, real));
  if (folder === undefined) return false;
  const inner = path.relative(folder, real).split(path.sep);
  return !isInGit(inner) && !RUN_BY_OTHERS.test(inner.join('/'));
}
