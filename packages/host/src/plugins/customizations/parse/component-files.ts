/** Finds the files of one kind of component in its places. */
import { baseName, joined } from './files.js';
import type { Place } from './locations.js';
import type { Source } from './source.js';

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
