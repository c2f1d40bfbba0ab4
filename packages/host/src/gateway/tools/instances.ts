/** Several instances of one provider share their tools: how a call finds the one that is meant. */
import type { ProviderToolDefinition } from '@atrium/protocol/provider';
import type { ProviderGroup } from '../gateway-session.js';
import type { Binding } from '../provider.js';
import { propertiesOf } from './registration.js';

/** Titles come from strangers, and stand in a description that the model reads. */
const TITLE_MAX_CHARACTERS = 80;

/** One tool of a provider, with the instances that have it. */
export interface SharedTool {
  readonly definition: ProviderToolDefinition;
  readonly bindings: readonly Binding[];
}

/** Those that are connected. */
export function present({ bindings }: ProviderGroup): readonly Binding[] {
  return bindings.filter(({ isAway }) => !isAway);
}

export function sharedTools(group: ProviderGroup): readonly SharedTool[] {
  const shared = new Map<string, { definition: ProviderToolDefinition; bindings: Binding[] }>();
  for (const binding of present(group)) {
    for (const definition of binding.tools.values()) {
      const known = shared.get(definition.name);
      if (known) known.bindings.push(binding);
      else shared.set(definition.name, { definition, bindings: [binding] });
    }
  }
  return [...shared.values()];
}

export function sharedTool(group: ProviderGroup, name: string): SharedTool | undefined {
  const bindings = present(group).filter(({ tools }) => tools.has(name));
  const definition = bindings[0]?.tools.get(name);
  return definition && { definition, bindings };
}

/** A tool may have a parameter of that name itself. */
function targetKey(definition: ProviderToolDefinition): 'target' | '_target' {
  return Object.hasOwn(propertiesOf(definition), 'target') ? '_target' : 'target';
}

/** The schema as the model sees it: with several instances, one can be chosen. */
export function schemaOf({ definition, bindings }: SharedTool): Record<string, unknown> & { type: 'object' } {
  const properties = propertiesOf(definition);
  const base = { ...definition.parameters, type: 'object' as const, properties };
  if (bindings.length < 2) return base;
  const names = bindings.map((binding) => `${instanceOf(binding)}${titleOf(binding)}`).join(', ');
  const description = `Which instance is meant: ${names}. Without it, the one that was active last.`;
  return { ...base, properties: { ...properties, [targetKey(definition)]: { type: 'string', description } } };
}

export interface Route {
  /** The instance that a call is for; undefined when the one that was named is not here. */
  readonly binding: Binding | undefined;
  /** The arguments without the choice. */
  readonly args: Readonly<Record<string, unknown>>;
  /** Whether the model named it. */
  readonly isChosen: boolean;
}

/** A model may still name an instance when only one is left: another one is not what it meant then. */
export function routeOf({ definition, bindings }: SharedTool, input: Readonly<Record<string, unknown>>): Route {
  const { [targetKey(definition)]: target, ...args } = input;
  const hasInstances = bindings.some(({ provider }) => provider.instance !== undefined);
  if (!hasInstances) return { binding: bindings[0], args: input, isChosen: false };
  if (target === undefined) return { binding: lastActive(bindings), args, isChosen: false };
  return { binding: bindings.find((binding) => instanceOf(binding) === target), args, isChosen: true };
}

export function lastActive(bindings: readonly Binding[]): Binding | undefined {
  return bindings.reduce<Binding | undefined>(
    (latest, binding) => (latest && latest.provider.lastHeard >= binding.provider.lastHeard ? latest : binding),
    undefined,
  );
}

export function instanceOf({ provider }: Binding): string {
  return provider.instance ?? provider.name;
}

function titleOf({ provider }: Binding): string {
  const { title } = provider.registration.metadata;
  if (typeof title !== 'string' || title.trim() === '') return '';
  return ` (${title.slice(0, TITLE_MAX_CHARACTERS).replaceAll(/\s+/g, ' ').trim()})`;
}
