/** Instances of one provider share their tools: how a call finds its instance, and how the model learns of them. */

import type { HostTool } from '@atrium/core/contracts/tool.js';
import { isRecord } from '@atrium/core/util/shape.js';
import type { ProviderToolDefinition } from '@atrium/protocol/provider';
import type { ProviderGroup } from '../gateway-session.js';
import type { Binding } from '../provider.js';
import { extensionId, present } from '../provider.js';

/** Titles come from providers, and appear in a description that the model reads. */
const TITLE_MAX_CHARACTERS = 80;

/** One tool of a provider, and the instances that have it. */
export interface SharedTool {
  readonly definition: ProviderToolDefinition;
  readonly bindings: readonly Binding[];
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

/** The schema that the model sees; with several instances, it lets the model choose one. */
export function schemaOf({ definition, bindings }: SharedTool): Record<string, unknown> & { type: 'object' } {
  const properties = propertiesOf(definition);
  const base = { ...definition.parameters, type: 'object' as const, properties };
  if (bindings.length < 2) return base;
  const names = bindings.map((binding) => `${instanceOf(binding)}${titleOf(binding)}`).join(', ');
  const description = `Which instance is meant: ${names}. Without it, the one that was active last.`;
  return { ...base, properties: { ...properties, [targetKey(definition)]: { type: 'string', description } } };
}

export interface Route {
  /** The instance that a call is for; undefined when the model named one that is not connected. */
  readonly binding: Binding | undefined;
  /** The arguments without the choice of an instance. */
  readonly args: Readonly<Record<string, unknown>>;
  /** Whether the model named the instance. */
  readonly isChosen: boolean;
}

/** A model may name an instance that has left; the call must not go to the last remaining one. */
export function routeOf({ definition, bindings }: SharedTool, input: Readonly<Record<string, unknown>>): Route {
  const hasInstances = bindings.some(({ provider }) => provider.instance !== undefined);
  if (!hasInstances) return { binding: bindings[0], args: input, isChosen: false };
  const { [targetKey(definition)]: target, ...args } = input;
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

export function metaToolName(providerName: string): string {
  return `list_${providerName}_instances`;
}

/** The tool that the gateway adds when there are several instances: it lists them, so that the model can choose. */
export function metaTool({ name, session }: ProviderGroup): HostTool {
  const displayName = `${name}: instances`;
  return {
    definition: {
      name: metaToolName(name),
      title: displayName,
      description: `Lists the instances of ${name} that are connected, to choose one as "target".`,
      inputSchema: { type: 'object', properties: {} },
      annotations: { readOnlyHint: true },
      _meta: { gateway: { provider: name } },
    },
    displayName,
    owner: extensionId(name),
    callMeta: { gateway: { provider: name } },
    invocationMessage: () => `List the instances of ${name}`,
    run: async () => {
      const text = JSON.stringify(instancesIn(session.group(name)));
      return { success: true, pastTenseMessage: `Listed the instances of ${name}`, content: [{ type: 'text', text }] };
    },
  };
}

/** `instance` comes last, so that a provider's metadata cannot replace it. */
function instancesIn(group: ProviderGroup): object[] {
  return present(group).map((binding) => ({
    ...binding.provider.registration.metadata,
    instance: instanceOf(binding),
  }));
}

/** A tool may have its own parameter named `target`. */
function targetKey(definition: ProviderToolDefinition): 'target' | '_target' {
  return Object.hasOwn(propertiesOf(definition), 'target') ? '_target' : 'target';
}

function propertiesOf({ parameters }: ProviderToolDefinition): Readonly<Record<string, unknown>> {
  return isRecord(parameters.properties) ? parameters.properties : {};
}

function titleOf({ provider }: Binding): string {
  const { title } = provider.registration.metadata;
  if (typeof title !== 'string' || title.trim() === '') return '';
  return ` (${title.slice(0, TITLE_MAX_CHARACTERS).replaceAll(/\s+/g, ' ').trim()})`;
}
