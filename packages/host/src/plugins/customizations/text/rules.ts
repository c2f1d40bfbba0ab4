/** When rules apply: always, with certain files, or when the model or a person asks for them. */
import path from 'node:path';
import type { RenderFacts } from '../../../core/contracts/extension.js';
import { type Glob, glob } from '../../../workspace/tools/glob.js';
import type { RulePart } from '../parse/rules.js';

/** The rules whose text goes into this prompt. */
export function appliedRules(
  rules: readonly RulePart[],
  facts: RenderFacts,
  folder: string | undefined,
): readonly RulePart[] {
  return rules.filter((rule) => rule.alwaysApply && (rule.globs.length === 0 || isInPlay(rule, facts, folder)));
}

/** The rules that are only named: whoever works decides whether to read them. */
export function offeredRules(
  rules: readonly RulePart[],
  facts: RenderFacts,
  folder: string | undefined,
): readonly RulePart[] {
  return rules.filter((rule) => !rule.alwaysApply && (rule.globs.length === 0 || isInPlay(rule, facts, folder)));
}

const compiled = new WeakMap<RulePart, readonly Glob[]>();

function isInPlay(rule: RulePart, { files }: RenderFacts, folder: string | undefined): boolean {
  const globs = compiled.get(rule) ?? rule.globs.map(glob);
  compiled.set(rule, globs);
  return files.some((file) => {
    const shown = relativePath(file, folder);
    return globs.some((fits) => fits(shown));
  });
}

/** As globs see it: from the session's folder, with forward slashes. What is outside keeps its whole path. */
function relativePath(file: string, folder: string | undefined): string {
  const relative = folder !== undefined && path.isAbsolute(file) ? path.relative(folder, file) : file;
  const isOutside = relative.startsWith('..') || path.isAbsolute(relative);
  return (isOutside ? file : path.normalize(relative)).split(path.sep).join('/');
}
