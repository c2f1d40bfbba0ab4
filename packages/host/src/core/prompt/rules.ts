/**
 * Stage 1: what the project asks of agents, the rules of plugins, and the words of a selected agent go into
 * `custom_instructions`.
 */
import type { Extension, RenderFacts } from '../contracts/extension.js';
import { type Journal, taken } from './changes.js';
import { CUSTOM_INSTRUCTIONS, followed, type Sections } from './sections.js';

export interface RulesRequest extends Journal {
  readonly extensions: readonly Extension[];
  readonly facts: RenderFacts;
  /** Others wrote them, however the agent came by them. */
  readonly projectInstructions?: string | undefined;
}

/** Who the instructions of the project are by, in the journal. */
const PROJECT = 'project';

/** A prompt without that section gets one, for rules must not be lost. */
export function withRules(sections: Sections, request: RulesRequest): Sections {
  const first = sections.get(CUSTOM_INSTRUCTIONS) ?? '';
  let text = first;
  for (const { by, rule } of allRules(request)) {
    const change = { stage: 'rules', by, section: CUSTOM_INSTRUCTIONS, before: text } as const;
    text = taken({ ...change, after: followed(text, rule) }, request);
  }
  return text === first ? sections : new Map(sections).set(CUSTOM_INSTRUCTIONS, text);
}

function* allRules(request: RulesRequest): Generator<{ readonly by: string; readonly rule: string }> {
  const { projectInstructions: rule, extensions } = request;
  if (rule !== undefined) yield { by: PROJECT, rule };
  for (const extension of extensions)
    for (const own of rulesOf(extension, request)) yield { by: extension.id, rule: own };
}

/** An extension that fails at its rules has none this time. */
function rulesOf({ id, prompt }: Extension, { facts, session, logger }: RulesRequest): readonly string[] {
  try {
    return prompt?.rules?.(facts) ?? [];
  } catch (error) {
    logger.log('debug', 'an extension failed to give its rules', { session, by: id, error: String(error) });
    return [];
  }
}
