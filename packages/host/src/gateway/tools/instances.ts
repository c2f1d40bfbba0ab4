/** Several instances of one provider share their tools: how a call finds the one that is meant. */
import type { ProviderToolDefinition } from '@atrium/protocol/provider';
import { isRecord } from '../../tools/shape.js';
import type { Binding } from '../provider.js';
import type { Group } from '../room.js';

/** One tool of a provider, with the instances that have it. */
export interface SharedTool {
  readonly definition: ProviderToolDefinition;
  readonly bindings: readonly Binding[];
}

/** Those that are connected. */
export function present({ bindings }: Group): readonly Binding[] {
  return bindings.filter(({ isAway }) => !isAway);
}

export function sharedTools(group: Group): readonly SharedTool[] {
  const shared = new Map<string, SharedTool>();
  for (const binding of present(group)) {
    for (const definition of binding.tools.values()) {
      const known = shared.get(definition.name);
      shared.set(definition.name, {
        definition: known?.definition ?? definition,
        bindings: [...(known?.bindings ?? []), binding],
      });
    }
  }
  return [...shared.values()];
}

/** A tool may have a parameter of that name itself. */
export function targetKey({ parameters }: ProviderToolDefinition): string {
  const { properties } = parameters;
  return isRecord(properties) && 'target' in properties ? '_target' : 'target';
}

/** The schema as the model sees it: with several instances, one can be chosen. */
export function schemaOf({ definition, bindings }: SharedTool): Record<string, unknown> & { type: 'object' } {
  const { parameters } = definition;
  const properties = isRecord(parameters.properties) ? parameters.properties : {};
  const base = { ...parameters, type: 'object' as const, properties };
  if (bindings.length < 2) return base;
  const names = bindings.map((binding) => `${instanceOf(binding)}${titleOf(binding)}`).join(', ');
  const description = `Which instance is meant: ${names}. Without it, the one that was active last.`;
  return { ...base, properties: { ...properties, [targetKey(definition)]: { type: 'string', description } } };
}

/** The instance that a call is for, and the arguments without the choice. */
export function routeOf(tool: SharedTool, input: Readonly<Record<string, unknown>>) {
  const key = targetKey(tool.definition);
  const { [key]: target, ...rest } = input;
  const isShared = tool.bindings.length > 1;
  if (!isShared || target === undefined) {
    const [latest] = byActivity(tool.bindings);
    return { args: isShared ? rest : input, binding: latest, isChosen: false };
  }
  const chosen = tool.bindings.find((binding) => instanceOf(binding) === target);
  return { args: rest, binding: chosen, isChosen: true };
}

export function byActivity(bindings: readonly Binding[]): Binding[] {
  return [...bindings].sort((one, other) => other.provider.lastHeard - one.provider.lastHeard);
}

export function instanceOf({ provider }: Binding): string {
  return provider.instance ?? provider.name;
}

function titleOf({ provider }: Binding): string {
  const { title } = provider.registration.metadata;
  return typeof title === 'string' && title !== '' ? ` (${title.slice(0, 80)})` : '';
}

/** What the meta-tool answers. */
export function instanceList(group: Group): object[] {
  return present(group).map((binding) => ({
    instance: instanceOf(binding),
    ...binding.provider.registration.metadata,
  }));
}

export function metaToolName(providerName: string): string {
  return `list_${providerName}_instances`;
}
