/**
 * Agents whose prompt is their own: all that the host can do is to add one text to it, before or after. What cannot be
 * done is said, never pretended.
 */
import type { AgentAbilities } from '../contracts/agent.js';
import type { Extension } from '../contracts/extension.js';
import { taken } from './changes.js';
import { type RulesRequest, withRules } from './rules.js';
import { CUSTOM_INSTRUCTIONS, followed, type Sections } from './sections.js';

/** Rules, and what extensions would add to any section: all of it as `custom_instructions`. */
export function additions(request: RulesRequest): Sections {
  const rules = withRules(new Map(), request);
  let text = rules.get(CUSTOM_INSTRUCTIONS) ?? '';
  for (const { id, prompt } of request.extensions) {
    for (const { action, content } of prompt?.transforms ?? []) {
      if (action !== 'append') continue;
      const change = { stage: 'static', by: id, section: CUSTOM_INSTRUCTIONS, before: text } as const;
      text = taken({ ...change, after: followed(text, content) }, request);
    }
  }
  return text === '' ? new Map() : new Map([[CUSTOM_INSTRUCTIONS, text]]);
}

/** What these extensions want of the prompt and this agent cannot give, named after what it can. */
export function unsupportedTransforms({ render }: AgentAbilities, extensions: readonly Extension[]): string[] {
  if (render === 'sections') return [];
  const isLost = extensions.some(({ prompt }) => {
    const transforms = prompt?.transforms ?? [];
    const lost = render === 'none' ? transforms : transforms.filter(({ action }) => action !== 'append');
    return lost.length > 0 || (prompt?.callbacks ?? []).length > 0;
  });
  return isLost ? [`transforms:${render}`] : [];
}
