/** The customizations of a session: providers, read from its metadata, and custom agents. */
import type { ChildCustomization, SessionState } from '@atrium/protocol';

export interface ProviderInfo {
  readonly name: string;
  readonly instance: string | undefined;
  readonly providerId: string;
  readonly trust: string;
  readonly tools: readonly string[];
  readonly hasContext: boolean;
  readonly isAway: boolean;
}

export function providersOf({ _meta }: Pick<SessionState, '_meta'>): readonly ProviderInfo[] {
  const { gateway } = record(_meta);
  const { providers } = record(gateway);
  return Array.isArray(providers) ? providers.map(record).flatMap(provider) : [];
}

const ENTRY = 'gateway-provider:/';

/** The entry among the customizations that switches a provider on and off. */
export function providerEntry(name: string): string {
  return `${ENTRY}${name}`;
}

/** Providers are listed by themselves, so not among the customizations. */
export function isProviderEntry(id: string): boolean {
  return id.startsWith(ENTRY);
}

function provider(entry: Readonly<Record<string, unknown>>): ProviderInfo[] {
  const { name, instance, providerId, trust, tools, context, away } = entry;
  if (typeof name !== 'string') return [];
  return [
    {
      name,
      instance: typeof instance === 'string' ? instance : undefined,
      providerId: typeof providerId === 'string' ? providerId : name,
      trust: typeof trust === 'string' ? trust : 'unknown',
      tools: Array.isArray(tools) ? tools.filter((tool) => typeof tool === 'string') : [],
      hasContext: context === true,
      isAway: away === true,
    },
  ];
}

function record(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}

type CustomAgent = Extract<ChildCustomization, { type: 'agent' }>;

/** The custom agents that can be chosen: those of containers that are switched on. */
export function customAgents(customizations: SessionState['customizations'] = []): readonly CustomAgent[] {
  const children = customizations.filter(({ enabled }) => enabled).flatMap((container) => container.children ?? []);
  return children.filter((child) => child.type === 'agent');
}
