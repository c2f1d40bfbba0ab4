/** Finds Agent Skills: folders with a file of one certain name in them. */
import { warnIfNamed } from './component-files.js';
import { baseName, joined } from './files.js';
import type { Place } from './locations.js';
import type { Source } from './source.js';

export const SKILL_FILE = 'SKILL.md';

/** The skill files of all places, in the order in which they count. */
export async function skillFiles(source: Source, places: readonly Place[]): Promise<readonly string[]> {
  const found = new Set<string>();
  for (const place of places) {
    const entries = await source.reader.list(place.path);
    if (!entries) {
      if (await isNamedSkillFile(source, place)) found.add(place.path);
      continue;
    }
    const isSkillItself = entries.some(({ name, kind }) => kind === 'file' && name === SKILL_FILE);
    if (isSkillItself && !source.isStrict) found.add(joined(place.path, SKILL_FILE));
    for (const { name, kind } of entries) {
      if (kind === 'folder' && (await hasSkillFile(source, joined(place.path, name)))) {
        found.add(joined(place.path, `${name}/${SKILL_FILE}`));
      }
    }
  }
  return [...found];
}

/** By listing, because some file systems find `skill.md` under this name as well. */
export async function hasSkillFile({ reader }: Source, folder: string): Promise<boolean> {
  return Boolean((await reader.list(folder))?.some(({ name, kind }) => kind === 'file' && name === SKILL_FILE));
}

async function isNamedSkillFile(source: Source, place: Place): Promise<boolean> {
  const kind = place.isNamed ? await source.reader.kindOf(place.path) : 'refused';
  if (kind === 'missing') warnIfNamed(source, place);
  return kind === 'file' && baseName(place.path) === SKILL_FILE;
}
