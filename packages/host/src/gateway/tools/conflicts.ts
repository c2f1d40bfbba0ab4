/** Names of tools: one owner each in a session. A registration with one taken name is refused as a whole. */
import { GatewayErrorCode, type ProviderToolDefinition, TOOLS_PER_PROVIDER_MAX } from '@atrium/protocol/provider';
import { GatewayError, tooMany } from '../gateway-error.js';
import type { Provider } from '../provider.js';
import { extensionId, type Room } from '../room.js';
import { metaToolName } from './instances.js';

export function checkTools(
  provider: Provider,
  room: Room,
  tools: Iterable<ProviderToolDefinition> = provider.registration.tools.values(),
): void {
  const wanted = [...tools];
  if (wanted.length > TOOLS_PER_PROVIDER_MAX) throw tooMany('tools', TOOLS_PER_PROVIDER_MAX);
  const owners = ownersIn(room, provider);
  const others = room.groups().filter(({ name }) => name !== provider.name);
  for (const tool of wanted) {
    const owner = owners.get(tool.name);
    if (owner !== undefined) throw conflict(tool.name, `belongs to ${owner}`);
    if (tool.name === metaToolName(provider.name)) throw conflict(tool.name, 'is made by the gateway');
    const reserved = others.find(({ name }) => isReservedFor(name, tool.name));
    if (reserved) throw conflict(tool.name, `is kept for ${reserved.name}`);
    checkShared(provider, room, tool);
  }
}

/** Everything that has a name already and is not this provider's. */
function ownersIn({ session }: Room, provider: Provider): Map<string, string> {
  const own = extensionId(provider.name);
  const owners = new Map<string, string>();
  for (const { name } of session.state.activeClient?.tools ?? []) owners.set(name, 'the active client');
  for (const { definition, owner } of session.extensions.tools()) {
    if (owner !== own) owners.set(definition.name, owner ?? 'the host');
  }
  return owners;
}

function isReservedFor(providerName: string, tool: string): boolean {
  const prefix = `list_${providerName}`;
  return tool === prefix || tool.startsWith(`${prefix}_`);
}

/** Instances share one copy of a tool, so they must mean the same thing by it. */
function checkShared(provider: Provider, room: Room, tool: ProviderToolDefinition): void {
  for (const binding of room.group(provider.name).bindings) {
    if (binding.provider.instance === provider.instance) continue;
    const known = binding.tools.get(tool.name);
    if (known && JSON.stringify(known.parameters) !== JSON.stringify(tool.parameters))
      throw conflict(tool.name, `has other parameters at ${binding.provider.title}`);
  }
}

function conflict(tool: string, why: string): GatewayError {
  return new GatewayError(GatewayErrorCode.ToolConflict, `the tool ${tool} ${why}: rename it`);
}
