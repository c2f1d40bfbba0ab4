/** The catalogue of prompt sections that an agent publishes. */
import type { SystemMessageSection } from '@atrium/protocol';
import { PROTECTED_SECTIONS } from '@atrium/protocol/provider';

/** Protected sections are marked: nobody may change them. */
export function catalogueOf(sections: Readonly<Record<string, string>>): SystemMessageSection[] {
  return Object.keys(sections).map((id) => ({
    id,
    label: labelOf(id),
    ...(PROTECTED_SECTIONS.has(id) ? { restricted: true } : {}),
  }));
}

/** `tool_efficiency` → `Tool efficiency` */
function labelOf(id: string): string {
  const words = id.replaceAll(/[_-]+/g, ' ').trim() || id;
  return words.charAt(0).toUpperCase() + words.slice(1);
}
