/** The custom agents that can be chosen: those of containers that are switched on. */
import type { ChildCustomization, SessionState } from '@atrium/protocol';

export type CustomAgent = Extract<ChildCustomization, { type: 'agent' }>;

export function customAgents(customizations: SessionState['customizations'] = []): readonly CustomAgent[] {
  const children = customizations.filter(({ enabled }) => enabled).flatMap((container) => container.children ?? []);
  return children.filter((child) => child.type === 'agent');
}
