/** What every component needs to be read: the files, a place for warnings, and the facts about its container. */
import type { ChildCustomizationType } from '@atrium/protocol';
import { childId } from './ids.js';
import type { MarkdownFile } from './markdown.js';
import type { Surroundings } from './placeholders.js';
import type { Reader } from './reader.js';
import type { Warnings } from './warnings.js';

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
