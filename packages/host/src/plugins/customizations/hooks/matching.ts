/** Which hooks an event concerns. Matchers are written by strangers, so they are tried within a budget. */
import { Pattern, tryPatterns } from '../../../gateway/hooks/patterns.js';
import type { HookPart } from '../parse/hooks.js';
import { toolAliases } from '../tool-aliases.js';

const patterns = new WeakMap<HookPart, Pattern>();

/** A matcher that takes too long counts as matching: its hook can still decide, and no check is skipped. */
export function isMatching(hook: HookPart, subjects: readonly string[]): boolean {
  if (hook.matcher === undefined || subjects.length === 0) return true;
  const pattern = patterns.get(hook) ?? new Pattern(hook.matcher);
  patterns.set(hook, pattern);
  return subjects.some((subject) => tryPatterns([pattern], subject)[0] !== 'no-match');
}

/** A tool goes by its own name, and by the one that hooks for other hosts know it by. */
export function toolSubjects(toolName: string): readonly string[] {
  return [toolName, ...toolAliases(toolName)];
}
