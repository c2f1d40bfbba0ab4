/** The tool that the gateway adds beside those of several instances: it lists them, so that the model can choose. */

import {
  GatewayErrorCode,
  grantOf,
  type ProviderToolDefinition,
  type ToGatewayMessageMap,
  ToolErrorCode,
  type ToolOutcome,
} from '@atrium/protocol/provider';
import {
  ALLOW_IN_SESSION,
  type HostTool,
  type ToolConfirmation,
  type ToolContext,
  type ToolOutput,
} from '../../core/contracts/tool.js';
import type { Clock } from '../../core/util/clock.js';
import { isRecord } from '../../core/util/shape.js';
import { throttle } from '../../core/util/throttle.js';
import type { ProviderGroup } from '../gateway-session.js';
import type { CallTelemetry, GatewayService, Leaving } from '../ports.js';
import { type Binding, extensionId, type Provider } from '../provider.js';
import type { Updates } from '../updates.js';
import { Calls, failure } from './calls.js';
import {
  instanceOf,
  lastActive,
  present,
  type Route,
  routeOf,
  type SharedTool,
  schemaOf,
  sharedTool,
  sharedTools,
} from './instances.js';
import { checkTools } from './registration.js';
import { outputOf, type ResultFolders } from './results.js';

export function metaToolName(providerName: string): string {
  return `list_${providerName}_instances`;
}

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

/** The name to choose one by comes last, so that nothing in its metadata can stand for it. */
function instancesIn(group: ProviderGroup): object[] {
  return present(group).map((binding) => ({
    ...binding.provider.registration.metadata,
    instance: instanceOf(binding),
  }));
}

/** A tool of a provider as a tool of the host: the broker gates, confirms and runs it like any other. */

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

/** Tools of providers: offered in their sessions, called, and taken away. */

/** People cannot read faster, and every line is stored. */
const PROGRESS_INTERVAL_MS = 250;
/** It is a line under a running call, not its result. */
const PROGRESS_MAX_CHARACTERS = 2_000;

export interface ToolsParts {
  readonly clock: Clock;
  readonly telemetry: CallTelemetry | undefined;
  readonly updates: Updates;
  readonly folders: ResultFolders;
}

export class ProviderTools implements GatewayService {
  readonly #parts: ToolsParts;
  readonly #calls: Calls;

  constructor(parts: ToolsParts) {
    this.#parts = parts;
    this.#calls = new Calls(parts);
  }

  readonly handlers = {
    'tool.result': (message: ToGatewayMessageMap['tool.result'], provider: Provider) =>
      this.#calls.answered(provider, message),
    'tool.progress': (message: ToGatewayMessageMap['tool.progress'], provider: Provider) =>
      this.#calls.progressed(provider, message.id, message.message),
    'tools.update': (message: ToGatewayMessageMap['tools.update'], provider: Provider) =>
      this.#update(provider, message),
  };

  extend(group: ProviderGroup): { tools: readonly HostTool[] } {
    const tools = sharedTools(group).map((shared) =>
      offeredTool(group.name, shared, (input, context) =>
        this.#run(group, shared.definition.name, { input: isRecord(input) ? input : {}, context }),
      ),
    );
    return { tools: present(group).length > 1 ? [...tools, metaTool(group)] : tools };
  }

  left(provider: Provider, how: Leaving): void {
    this.#calls.left(provider, how);
  }

  #update(provider: Provider, message: ToGatewayMessageMap['tools.update']): void {
    const changed = ({ tools }: Binding) => withChanges(tools, message);
    this.#parts.updates.apply(provider, message, {
      check: (binding) => checkTools(provider, binding.session, changed(binding).values()),
      apply: (binding) => {
        binding.tools = changed(binding);
      },
    });
  }

  /** Which instances there are is asked when the call runs, not when the tool was offered. */
  async #run(
    { name, session }: ProviderGroup,
    tool: string,
    { input, context }: { input: Readonly<Record<string, unknown>>; context: ToolContext },
  ): Promise<ToolOutput> {
    const displayName = displayNameOf(name, tool);
    const shared = sharedTool(session.group(name), tool);
    const route = shared && routeOf(shared, input);
    if (!route?.binding) {
      const refusal = shared
        ? failure(ToolErrorCode.NotFound, `there is no such instance; connected are ${instancesOf(shared)}`)
        : failure(ToolErrorCode.Disconnected, `${name} is not connected`);
      return outputOf(refusal, { displayName, persistDir: undefined });
    }
    const call = { ...route, binding: route.binding, tool, context };
    const { outcome, provider } = await this.#callWithRetry(call);
    const persistDir = outcome.kind === 'file' ? this.#folderFor(provider) : undefined;
    return outputOf(outcome, { displayName, persistDir });
  }

  /** When an instance says that another one might succeed, and the model named none, one other is tried. */
  async #callWithRetry(call: RoutedCall): Promise<{ outcome: ToolOutcome; provider: Provider }> {
    const { binding, tool, isChosen } = call;
    const first = { outcome: await this.#call(call), provider: binding.provider };
    if (first.outcome.kind !== 'failure' || !first.outcome.retryable || isChosen) return first;
    const { session, provider } = binding;
    const shared = sharedTool(session.group(provider.name), tool);
    const other = lastActive((shared?.bindings ?? []).filter((candidate) => candidate !== binding));
    return other ? { outcome: await this.#call({ ...call, binding: other }), provider: other.provider } : first;
  }

  #call({ binding, tool, args, context }: RoutedCall): Promise<ToolOutcome> {
    let latest = '';
    const shown = throttle(this.#parts.clock, PROGRESS_INTERVAL_MS, () =>
      context.progress([{ type: 'text', text: latest }]),
    );
    const progress = (text: string) => {
      latest = text.slice(0, PROGRESS_MAX_CHARACTERS);
      shown.request();
    };
    return this.#calls.call({ binding, tool, args, signal: context.signal, progress }).finally(() => shown.stop());
  }

  /** A provider that may not answer by file hears that, too. */
  #folderFor(provider: Provider): string | undefined {
    if (grantOf('fileResults', provider.trust)) return this.#parts.folders.of(provider);
    const { providerId, trust } = provider;
    const message = `an ${trust} provider may not answer by file`;
    provider.send({ type: 'error', code: GatewayErrorCode.Unauthorized, message, replyTo: 'tool.result', providerId });
    return undefined;
  }
}

interface RoutedCall extends Route {
  readonly binding: Binding;
  readonly tool: string;
  readonly context: ToolContext;
}

function instancesOf({ bindings }: SharedTool): string {
  return bindings.map(instanceOf).join(', ');
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
