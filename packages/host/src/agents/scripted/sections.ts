/** The catalogue of prompt sections that an agent publishes. */
import type { SystemMessageSection } from '@atrium/protocol';

/** Sections that nobody may change: they come out of the prompt pipeline as they went in. */
export const RESTRICTED_SECTIONS: ReadonlySet<string> = new Set(['safety', 'identity']);

export function catalogueOf(sections: Readonly<Record<string, string>>): SystemMessageSection[] {
  return Object.keys(sections).map((id) => ({
    id,
    label: labelOf(id),
    ...(RESTRICTED_SECTIONS.has(id) ? { restricted: true } : {}),
  }));
}

/** `tool_efficiency` → `Tool efficiency` */
function labelOf(id: string): string {
  const words = id.replaceAll(/[_-]+/g, ' ').trim() || id;
  return words.charAt(0).toUpperCase() + words.slice(1);
}
