/** Writes out the alternatives in braces: `a.{js,ts}` is `a.js` and `a.ts`. */
import { ToolFailure } from '../../core/contracts/tool.js';

export const GLOB_MAX_ALTERNATIVES = 64;

export function expandBraces(pattern: string): string[] {
  const done: string[] = [];
  const waiting = [pattern];
  for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
    const group = firstGroup(next);
    if (!group) done.push(next);
    else waiting.unshift(...group.choices.map((choice) => group.before + choice + group.after));
    if (done.length + waiting.length > GLOB_MAX_ALTERNATIVES) {
      throw new ToolFailure('BAD_INPUT', `The pattern has more than ${GLOB_MAX_ALTERNATIVES} alternatives.`);
    }
  }
  return done;
}

interface Group {
  readonly before: string;
  readonly choices: readonly string[];
  readonly after: string;
}

/** The first closed group with a comma of its own; other braces are characters like any other. */
function firstGroup(pattern: string): Group | undefined {
  for (let start = pattern.indexOf('{'); start >= 0; start = pattern.indexOf('{', start + 1)) {
    const commas = pattern[start - 1] === '\\' ? undefined : separatorsFrom(pattern, start);
    if (!commas || commas.length <= 2) continue;
    const choices = commas.slice(1).map((comma, index) => pattern.slice((commas[index] ?? 0) + 1, comma));
    return { before: pattern.slice(0, start), choices, after: pattern.slice((commas.at(-1) ?? 0) + 1) };
  }
  return undefined;
}

/** Where the group opens, its commas, and where it closes. */
function separatorsFrom(pattern: string, start: number): number[] | undefined {
  const found = [start];
  let depth = 0;
  for (let at = start; at < pattern.length; at += 1) {
    const character = pattern[at];
    if (character === '\\') at += 1;
    else if (character === '{') depth += 1;
    else if (character === ',' && depth === 1) found.push(at);
    else if (character === '}' && --depth === 0) return [...found, at];
  }
  return undefined;
}
