/** The sections of Copilot's system prompt. Their text is the runtime's: it is known only while a prompt is built. */
import type { SystemMessageSection } from '@atrium/protocol';

/** The order in which they stand in the prompt, whatever the model. Contributed text belongs before safety. */
export const BEFORE_SAFETY = ['preamble', 'tone', 'tool_efficiency', 'code_change_rules', 'guidelines'] as const;
export const SAFETY = 'safety';
export const AFTER_SAFETY = [
  'environment_context',
  'tool_instructions',
  'custom_instructions',
  'runtime_instructions',
  'last_instructions',
] as const;

export const SECTION_IDS: readonly string[] = [...BEFORE_SAFETY, SAFETY, ...AFTER_SAFETY];

/**
 * `identity` is not a section but a group: the preamble, tone and tool efficiency. It is published so that nobody tries
 * it, and never touched: an override of the group would silently drop those of its members.
 */
const IDENTITY = 'identity';
const RESTRICTED: ReadonlySet<string> = new Set([IDENTITY, 'preamble', SAFETY]);

export const COPILOT_CATALOGUE: readonly SystemMessageSection[] = [IDENTITY, ...SECTION_IDS].map((id) => ({
  id,
  label: labelOf(id),
  ...(RESTRICTED.has(id) && { restricted: true }),
}));

/** `tool_efficiency` → `Tool efficiency` */
function labelOf(id: string): string {
  const words = id.replaceAll('_', ' ');
  return words.charAt(0).toUpperCase() + words.slice(1);
}
