/** The customizations of a session: providers, read from its metadata, and custom agents. */
import {
  type ChildCustomization,
  type Customization,
  isChildEnabled,
  type SessionCustomizationToggledAction,
  type SessionState,
} from '@atrium/protocol/ahp-1';

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

/** The id of the customization that switches a provider on and off. */
export function providerEntry(name: string): string {
  return `${ENTRY}${name}`;
}

/** True for providers, which the page lists apart from the customizations. */
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

/** The custom agents to choose from: those that are on, in containers that are on. */
export function customAgents(customizations: SessionState['customizations'] = []): readonly CustomAgent[] {
  const children = customizations.flatMap((container) =>
    'children' in container ? (container.children ?? []).filter((child) => isChildEnabled(container, child)) : [],
  );
  return children.filter((child) => child.type === 'agent');
}

type Entry = Customization | ChildCustomization;

/** Switches an entry for this session; decisions for the folder or for everywhere stay, and count elsewhere. */
export function toggled(entry: Entry, isOn: boolean): SessionCustomizationToggledAction {
  const others = decisionsOf(entry).filter(({ kind }) => kind !== 'session');
  const enablement = [{ kind: 'session' as const, enabled: isOn }, ...others];
  return { type: 'session/customizationToggled', id: entry.id, enablement };
}

const SCOPES: Readonly<Record<string, string>> = { workspace: 'this folder', global: 'all sessions' };

/** The scope in which the entry is off, unless that is only this session. */
export function decidedFor(entry: Entry): string | undefined {
  const decision = decisionsOf(entry)[0];
  return decision && !decision.enabled ? SCOPES[decision.kind] : undefined;
}

function decisionsOf(entry: Entry) {
  return ('enablement' in entry && entry.enablement) || [];
}
