/** What the agent of a session cannot do for a provider. It is told so; nothing is pretended. */
import type { AgentAbilities } from '../core/contracts/agent.js';
import type { Binding } from './provider.js';
import type { Group } from './room.js';

/** As `hello.ack` puts it: `gates:host-run`, `transforms:append`. */
export function degradedFor({ room, rules, transforms }: Pick<Binding, 'room' | 'rules' | 'transforms'>): string[] {
  const abilities = room.session.parts.backend?.abilities;
  if (!abilities) return [];
  const gates = rules.length > 0 && abilities.toolIntent !== 'all' ? [`gates:${abilities.toolIntent}`] : [];
  return [...gates, ...(isWithoutSections(abilities, transforms) ? [`transforms:${abilities.render}`] : [])];
}

/** Where a prompt cannot be taken apart, text can be added to it at best. */
function isWithoutSections({ render }: AgentAbilities, transforms: Binding['transforms']): boolean {
  if (render === 'sections') return false;
  return [...transforms.values()].some(({ action }) => render === 'none' || action !== 'append');
}

/** Why something is refused where only the whole is good enough. */
export function cannotDo(fact: string): string {
  return `the agent of this session cannot do this (${fact}): leave it out, or use another agent`;
}

/** The same in words for people. */
export function degradedWords(group: Group): string[] {
  const found = new Set(group.bindings.flatMap(degradedFor));
  return [...found].map((fact) =>
    fact.startsWith('gates:')
      ? 'This agent runs some tools without asking, so the checks of this provider do not see all of them.'
      : 'This agent takes added text only, so not all prompt changes of this provider are used.',
  );
}
