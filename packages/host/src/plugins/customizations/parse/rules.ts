/** Rules, also known as instructions: text for the prompt, always on or tied to files. */
import { componentFiles, isMarkdownOf } from './component-files.js';
import { GLOBS_MAX } from './limits.js';
import type { Place } from './locations.js';
import {
  booleanField,
  descriptionField,
  listField,
  type MarkdownFile,
  nameField,
  nameWithout,
  readMarkdown,
} from './markdown.js';
import { present } from './present.js';
import { filePart, firstByName, type PartBase, type Source } from './source.js';

export interface RulePart extends PartBase {
  readonly description?: string;
  readonly alwaysApply: boolean;
  /** Empty when the rule is not tied to files. */
  readonly globs: readonly string[];
  readonly body: string;
}

const ENDINGS = ['.instructions.md', '.mdc', '.md'];

export async function loadRules(source: Source, places: readonly Place[]): Promise<readonly RulePart[]> {
  const rules: RulePart[] = [];
  for (const path of await componentFiles(source, places, (name) => isMarkdownOf('rule', name))) {
    const file = await readMarkdown(source, path);
    if (file) rules.push(ruleOf(source, file));
  }
  return firstByName(source, 'rule', rules);
}

function ruleOf(source: Source, file: MarkdownFile): RulePart {
  const description = descriptionField(file);
  const alwaysApply = booleanField(file, 'alwaysApply') ?? false;
  const globs = globsOf(file);
  if (description === undefined && !alwaysApply && globs.length === 0) {
    file.warn('required-field-missing', 'has no description, and nothing else tells when it applies');
  }
  const name = nameField(file) ?? nameWithout(file.path, ENDINGS);
  return { ...filePart(source, file, name), ...present({ description }), alwaysApply, globs, body: file.body };
}

/** Formats of instructions have other names for the same thing. */
function globsOf(file: MarkdownFile): readonly string[] {
  const key = ['globs', 'applyTo', 'paths'].find((alias) => file.fields.has(alias));
  const globs = key === undefined ? [] : (listField(file, key, splitGlobs) ?? []);
  if (globs.length > GLOBS_MAX) file.warn('limit-exceeded', `has more than ${GLOBS_MAX} globs; the rest is ignored`);
  return globs.slice(0, GLOBS_MAX);
}

/** Splits at commas, but not inside braces: `*.{js,ts},*.md` is two globs. */
export function splitGlobs(text: string): readonly string[] {
  const globs: string[] = [];
  let depth = 0;
  let start = 0;
  for (let at = 0; at <= text.length; at += 1) {
    const character = text[at];
    if (character === '{') depth += 1;
    else if (character === '}') depth = Math.max(0, depth - 1);
    else if (character === undefined || (character === ',' && depth === 0)) {
      globs.push(text.slice(start, at).trim());
      start = at + 1;
    }
  }
  return globs.filter((glob) => glob !== '');
}
