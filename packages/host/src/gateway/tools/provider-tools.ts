/** Tools of providers: registered, offered to the session's agent, called, and removed. */

import {
  ALLOW_IN_SESSION,
  type HostTool,
  type ToolConfirmation,
  type ToolContext,
  type ToolOutput,
} from '@atrium/core/contracts/tool.js';
import type { Clock } from '@atrium/core/util/clock.js';
import { throttle } from '@atrium/core/util/scheduling.js';
import { isRecord } from '@atrium/core/util/shape.js';
import {
  GatewayErrorCode,
  grantOf,
  type ProviderToolDefinition,
  type ToGatewayMessageMap,
  ToolErrorCode,
  type ToolOutcome,
} from '@atrium/protocol/provider';
import type { ProviderGroup } from '../gateway-session.js';
import type { CallTelemetry, DepartureReason, GatewayService } from '../ports.js';
import { type Binding, extensionId, type Provider, present } from '../provider.js';
import type { Updates } from '../registration-updates.js';
import { Calls, failure } from './calls.js';
import { outputOf, type ResultFolders } from './provider-results.js';
import { checkTools } from './registration.js';
import {
  instanceOf,
  lastActive,
  metaTool,
  type Route,
  routeOf,
  type SharedTool,
  schemaOf,
  sharedTool,
  sharedTools,
} from './tool-instances.js';

/** People cannot read faster, and the host stores every line. */
const PROGRESS_INTERVAL_MS = 250;
/** Progress is a line below a running call, not its result. */
const PROGRESS_MAX_CHARACTERS = 2_000;

interface ToolsOptions {
  readonly clock: Clock;
  readonly telemetry: CallTelemetry | undefined;
  readonly updates: Updates;
  readonly folders: ResultFolders;
}

export class ProviderTools implements GatewayService {
  readonly #options: ToolsOptions;
  readonly #calls: Calls;

  constructor(options: ToolsOptions) {
    this.#options = options;
    this.#calls = new Calls(options);
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

  left(provider: Provider, how: DepartureReason): void {
    this.#calls.left(provider, how);
  }

  #update(provider: Provider, message: ToGatewayMessageMap['tools.update']): void {
    const changed = ({ tools }: Binding) => withChanges(tools, message);
    this.#options.updates.apply(provider, message, {
      check: (binding) => checkTools(provider, binding.session, changed(binding).values()),
      apply: (binding) => {
        binding.tools = changed(binding);
      },
    });
  }

  /** Chooses the instance when the call runs, not when the tool was offered. */
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
    const { binding, args, isChosen } = route;
    const call = { binding, args, isChosen, tool, context };
    const { outcome, provider } = await this.#callWithRetry(call);
    const persistDir = outcome.kind === 'file' ? this.#folderFor(provider) : undefined;
    return outputOf(outcome, { displayName, persistDir });
  }

  /** Tries one other instance if the first says that another might succeed and the model named none. */
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
    const shown = throttle(this.#options.clock, PROGRESS_INTERVAL_MS, () =>
      context.progress([{ type: 'text', text: latest }]),
    );
    const progress = (text: string) => {
      latest = text.slice(0, PROGRESS_MAX_CHARACTERS);
      shown.request();
    };
    return this.#calls.call({ binding, tool, args, signal: context.signal, progress }).finally(() => shown.stop());
  }

  /** Tells the provider if it may not answer by file. */
  #folderFor(provider: Provider): string | undefined {
    if (grantOf('fileResults', provider.trust)) return this.#options.folders.of(provider);
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

/** "browser: screenshot", also for a tool named `browser_screenshot`. */
function displayNameOf(providerName: string, tool: string): string {
  const prefix = `${providerName}_`;
  const isPrefixed = tool.startsWith(prefix) && tool.length > prefix.length;
  return `${providerName}: ${isPrefixed ? tool.slice(prefix.length) : tool}`;
}

/** Presents a provider's tool as a tool of the host, so that it is gated, confirmed and run like any other. */
function offeredTool(providerName: string, shared: SharedTool, run: HostTool['run']): HostTool {
  const { name } = shared.definition;
  const displayName = displayNameOf(providerName, name);
  const isExternal = shared.bindings.some(({ provider }) => provider.trust === 'external');
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
    ...(isExternal && { confirmation: () => questionFor(providerName, name) }),
    run,
  };
}

/**
 * Identifies what a person's "Approve in this session" covers. A name is free again when its provider is gone, so the
 * approval of an external provider's tool covers the pairings that shared it, not the name.
 */
function identityOf({ bindings }: SharedTool): string {
  const admissions = bindings.map(({ provider: { trust, admission } }) =>
    trust === 'external' ? `${trust} ${admission}` : trust,
  );
  return [...new Set(admissions)].sort().join();
}

/** Only with a single instance is it known in advance which one gets a call. */
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

/** Pairing admits a provider; each call of an external provider's tool still needs a person's yes. */
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
