/** The tool that the gateway adds beside those of several instances: it lists them, so that the model can choose. */
import type { HostTool } from '../../core/contracts/tool.js';
import { extensionId } from '../extension-id.js';
import type { Group } from '../room.js';
import { instanceOf, present } from './instances.js';

export function metaToolName(providerName: string): string {
  return `list_${providerName}_instances`;
}

export function metaTool({ name, room }: Group): HostTool {
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
      const text = JSON.stringify(instancesIn(room.group(name)));
      return { success: true, pastTenseMessage: `Listed the instances of ${name}`, content: [{ type: 'text', text }] };
    },
  };
}

/** The name to choose one by comes last, so that nothing in its metadata can stand for it. */
function instancesIn(group: Group): object[] {
  return present(group).map((binding) => ({
    ...binding.provider.registration.metadata,
    instance: instanceOf(binding),
  }));
}
