/**
 * Stage 2: texts that extensions gave beforehand. In each section first those that replace it (the last one wins), then
 * those before it, then those after it, read from top to bottom in the order in which the extensions came.
 */
import type { Extension, StaticTransform } from '../contracts/extension.js';
import { type Journal, taken } from './changes.js';
import { followed, type Sections } from './sections.js';

/** A text, and whose it is. */
interface Step {
  readonly by: string;
  readonly transform: StaticTransform;
}

type Action = StaticTransform['action'];

const ACTIONS: Readonly<Record<Action, (text: string, content: string) => string>> = {
  replace: (_text, content) => content,
  prepend: (text, content) => followed(content, text),
  append: followed,
};

export function withStaticTransforms(sections: Sections, extensions: readonly Extension[], journal: Journal): Sections {
  const steps = stepsOf(extensions);
  if (steps.length === 0) return sections;
  const result = new Map(sections);
  for (const { by, transform } of inOrder(steps)) {
    const { section, action, content } = transform;
    const before = result.get(section);
    // A section that this prompt does not have is nobody's mistake: other agents have it.
    if (before === undefined) continue;
    const after = ACTIONS[action](before, content);
    result.set(section, taken({ stage: 'static', by, section, before, after }, journal));
  }
  return result;
}

/**
 * What was added to protected sections. The sections themselves stay as they are: this goes into a block before each.
 * Whatever is not an addition is not done.
 */
export function asidesOf(kept: Sections, extensions: readonly Extension[], journal: Journal): Sections {
  const asides = new Map<string, string>();
  for (const { by, transform } of stepsOf(extensions)) {
    const { section, action, content } = transform;
    if (action !== 'append' || !kept.has(section)) continue;
    const before = asides.get(section) ?? '';
    const after = followed(before, content);
    asides.set(section, taken({ stage: 'static', by, section, before, after }, journal));
  }
  return asides;
}

function stepsOf(extensions: readonly Extension[]): Step[] {
  const steps: Step[] = [];
  for (const { id: by, prompt } of extensions)
    for (const transform of prompt?.transforms ?? []) steps.push({ by, transform });
  return steps;
}

/** The last one to be put before a text comes first, so these go in backwards. */
function inOrder(steps: readonly Step[]): Step[] {
  const of = (action: Action) => steps.filter(({ transform }) => transform.action === action);
  return [...of('replace'), ...of('prepend').reverse(), ...of('append')];
}
