/** A tool of a provider as a tool of the host: the broker gates, confirms and runs it like any other. */
import { ALLOW_IN_SESSION, type HostTool, type ToolConfirmation } from '../../core/contracts/tool.js';
import { extensionId } from '../extension-id.js';
import { instanceOf, type SharedTool, schemaOf } from './instances.js';

/** "browser: screenshot", also where the provider has put its own name before that of the tool. */
export function displayNameOf(providerName: string, tool: string): string {
  const prefix = `${providerName}_`;
  const isPrefixed = tool.startsWith(prefix) && tool.length > prefix.length;
  return `${providerName}: ${isPrefixed ? tool.slice(prefix.length) : tool}`;
}

export function offeredTool(providerName: string, shared: SharedTool, run: HostTool['run']): HostTool {
  const { name } = shared.definition;
  const displayName = displayNameOf(providerName, name);
  const isStranger = shared.bindings.some(({ provider }) => provider.trust === 'external');
  return {
    definition: {
      name,
      title: displayName,
      description: shared.definition.description,
      inputSchema: schemaOf(shared),
      _meta: { gateway: factsOf(providerName, shared) },
    },
    displayName,
    owner: extensionId(providerName),
    identity: identityOf(shared),
    callMeta: { gateway: { provider: providerName, ...onlyInstance(shared) } },
    invocationMessage: () => `Use ${displayName}`,
    ...(isStranger && { confirmation: () => questionFor(providerName, name) }),
    run,
  };
}

/**
 * Names are free again when a provider is gone. What a person said about a stranger counts for those whom they let in
 * then: for one pairing, or for the several that share the tool.
 */
function identityOf({ bindings }: SharedTool): string {
  const admissions = bindings.map(({ provider: { trust, admission } }) =>
    trust === 'external' ? `${trust} ${admission}` : trust,
  );
  return [...new Set(admissions)].sort().join();
}

/** Which instance a call is for is clear beforehand only when there is one. */
function onlyInstance({ bindings }: SharedTool): { instance?: string } {
  const instance = bindings.length === 1 ? bindings[0]?.provider.instance : undefined;
  return instance === undefined ? {} : { instance };
}

function factsOf(provider: string, { definition, bindings }: SharedTool): object {
  const [first] = bindings;
  const { timeout } = definition;
  return {
    provider,
    providerId: first?.provider.providerId,
    trust: first?.provider.trust,
    ...(bindings.length > 1 && { instances: bindings.map(instanceOf) }),
    ...(timeout !== undefined && { timeoutMs: timeout }),
  };
}

/** Somebody let it in, but that is no leave to do anything at any time. */
function questionFor(provider: string, tool: string): ToolConfirmation {
  return {
    title: `Let ${provider} run ${tool}?`,
    editable: true,
    options: [
      { id: 'approve', label: 'Approve', kind: 'approve' },
      { id: ALLOW_IN_SESSION, label: 'Approve in this session', kind: 'approve' },
      { id: 'deny', label: 'Deny', kind: 'deny' },
    ],
  };
}
