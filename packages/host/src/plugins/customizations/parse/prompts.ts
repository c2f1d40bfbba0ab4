/** Prompts to start from: Markdown files that a person picks. */
import { componentFiles } from './component-files.js';
import type { Place } from './locations.js';
import { descriptionField, nameWithout, readMarkdown } from './markdown.js';
import { present } from './present.js';
import { filePart, firstByName, type PartBase, type Source } from './source.js';

export interface PromptPart extends PartBase {
  readonly description?: string;
  readonly body: string;
}

const ENDINGS = ['.prompt.md', '.md'];

export async function loadPrompts(
  source: Source,
  places: readonly Place[],
  isWanted: (name: string) => boolean,
): Promise<readonly PromptPart[]> {
  const prompts: PromptPart[] = [];
  for (const path of await componentFiles(source, places, isWanted)) {
    const file = await readMarkdown(source, path);
    if (!file) continue;
    const description = descriptionField(file);
    prompts.push({
      ...filePart(source, file, nameWithout(path, ENDINGS)),
      ...present({ description }),
      body: file.body,
    });
  }
  return firstByName(source, 'prompt', prompts);
}
