/** Tools of providers, as tools of the host: the broker gates, confirms and runs them like any other. */
import {
  GatewayErrorCode,
  grantOf,
  type ProviderToolDefinition,
  type ToGatewayMessageMap,
  ToolErrorCode,
} from '@atrium/protocol/provider';
import { isRecord } from '../../tools/shape.js';
import { throttle } from '../../tools/throttle.js';
import {
  ALLOW_IN_SESSION,
  type HostTool,
  type ToolConfirmation,
  type ToolContext,
  type ToolOutput,
} from '../../tools/tool.js';
import type { Binding, Provider } from '../provider.js';
import { extensionId, type Group } from '../room.js';
import type { GatewayCore, GatewayService, Leaving } from '../service.js';
import { applyUpdate } from '../updates.js';
import { Calls, failure } from './calls.js';
import { checkTools } from './conflicts.js';
import {
  byActivity,
  instanceList,
  instanceOf,
  metaToolName,
  present,
  routeOf,
  type SharedTool,
  schemaOf,
  sharedTools,
} from './instances.js';
import { outputOf } from './outputs.js';

/** People cannot read faster, and every line is stored. */
const PROGRESS_INTERVAL_MS = 250;

export interface ToolsParts {
  readonly core: GatewayCore;
  persistDir(provider: Provider): string | undefined;
}

export class ProviderTools implements GatewayService {
  readonly #parts: ToolsParts;
  readonly #calls: Calls;

  constructor(parts: ToolsParts) {
    this.#parts = parts;
    this.#calls = new Calls(parts.core);
  }

  readonly handlers = {
    'tool.result': (message: ToGatewayMessageMap['tool.result'], provider: Provider) =>
      void this.#calls.answered(provider, message),
    'tool.progress': (message: ToGatewayMessageMap['tool.progress'], provider: Provider) =>
      this.#calls.progressed(provider, message.id, message.message),
    'tools.update': (message: ToGatewayMessageMap['tools.update'], provider: Provider) =>
      this.#update(provider, message),
  };

  extend(group: Group): { tools: readonly HostTool[] } {
    const tools = sharedTools(group).map((shared) => this.#tool(group, shared));
    return { tools: present(group).length > 1 ? [...tools, metaTool(group)] : tools };
  }

  left(provider: Provider, how: Leaving): void {
    this.#calls.left(provider, how);
    if (how !== 'lost') this.#calls.forget(provider);
  }

  #update(provider: Provider, message: ToGatewayMessageMap['tools.update']): void {
    const changed = ({ tools }: Binding) => withChanges(tools, message);
    applyUpdate(this.#parts.core, provider, message, {
      check: (binding) => checkTools(provider, binding.room, changed(binding).values()),
      apply: (binding) => {
        binding.tools = changed(binding);
      },
    });
  }

  #tool(group: Group, shared: SharedTool): HostTool {
    const { definition, bindings } = shared;
    const { name, description, timeout } = definition;
    const [first] = bindings;
    const displayName = `${group.name}: ${name}`;
    const instances = bindings.length > 1 ? { instances: bindings.map(instanceOf) } : {};
    const facts = { provider: group.name, providerId: first?.provider.providerId, trust: first?.provider.trust };
    return {
      definition: {
        name,
        title: displayName,
        description,
        inputSchema: schemaOf(shared),
        _meta: { gateway: { ...facts, ...instances, ...(timeout !== undefined && { timeoutMs: timeout }) } },
      },
      displayName,
      owner: extensionId(group.name),
      callMeta: { gateway: { provider: group.name } },
      invocationMessage: () => `Use ${displayName}`,
      ...(first?.provider.trust === 'external' && { confirmation: () => questionFor(group.name, name) }),
      run: (input, context) => this.#run(group, definition, { input: isRecord(input) ? input : {}, context }),
    };
  }

  /** Which instances there are is asked when the call runs, not when the tool was offered. */
  async #run(
    { name, room }: Group,
    definition: ProviderToolDefinition,
    { input, context }: { input: Readonly<Record<string, unknown>>; context: ToolContext },
  ): Promise<ToolOutput> {
    const displayName = `${name}: ${definition.name}`;
    const shared = sharedTools(room.group(name)).find((tool) => tool.definition.name === definition.name);
    const route = shared && routeOf(shared, input);
    if (!shared || !route?.binding) {
      const what = route ? 'there is no such instance' : `${name} is not connected`;
      const code = route ? ToolErrorCode.NotFound : ToolErrorCode.Disconnected;
      return outputOf(failure(code, what), { displayName, persistDir: undefined });
    }
    const { args, binding, isChosen } = route;
    const first = await this.#callOnce(binding, definition.name, { args, context });
    const other = byActivity(shared.bindings).find((candidate) => candidate !== binding && !candidate.isAway);
    const isTriedAgain = first.kind === 'failure' && first.retryable && !isChosen && other;
    const answering = isTriedAgain ? other : binding;
    const outcome = isTriedAgain ? await this.#callOnce(other, definition.name, { args, context }) : first;
    if (outcome.kind === 'file') this.#refuseFile(answering.provider);
    return outputOf(outcome, { displayName, persistDir: this.#parts.persistDir(answering.provider) });
  }

  async #callOnce(
    binding: Binding,
    tool: string,
    { args, context }: { args: Readonly<Record<string, unknown>>; context: ToolContext },
  ) {
    let latest = '';
    const shown = throttle(this.#parts.core.clock, PROGRESS_INTERVAL_MS, () =>
      context.progress([{ type: 'text', text: latest }]),
    );
    const progress = (text: string) => {
      latest = text;
      shown.request();
    };
    return this.#calls.call({ binding, tool, args, signal: context.signal, progress }).finally(() => shown.stop());
  }

  #refuseFile(provider: Provider): void {
    if (grantOf('fileResults', provider.trust)) return;
    const message = `an ${provider.trust} provider may not answer by file`;
    const { providerId } = provider;
    provider.send({ type: 'error', code: GatewayErrorCode.Unauthorized, message, replyTo: 'tool.result', providerId });
  }
}

function withChanges(
  before: ReadonlyMap<string, ProviderToolDefinition>,
  { tools = [], remove = [] }: ToGatewayMessageMap['tools.update'],
): Map<string, ProviderToolDefinition> {
  const after = new Map(before);
  for (const name of remove) after.delete(name);
  for (const tool of tools) after.set(tool.name, tool);
  return after;
}

function metaTool(group: Group): HostTool {
  const name = metaToolName(group.name);
  const description = `Lists the instances of ${group.name} that are connected, to choose one as "target".`;
  return {
    definition: {
      name,
      title: `${group.name}: instances`,
      description,
      inputSchema: { type: 'object', properties: {} },
      annotations: { readOnlyHint: true },
    },
    displayName: `${group.name}: instances`,
    owner: extensionId(group.name),
    invocationMessage: () => `List the instances of ${group.name}`,
    run: async () => {
      const instances = instanceList(group.room.group(group.name));
      const content = [{ type: 'text' as const, text: JSON.stringify(instances) }];
      return { success: true, pastTenseMessage: `Listed the instances of ${group.name}`, content };
    },
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
