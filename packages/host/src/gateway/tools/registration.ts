/**
 * Checks whether a provider may register tools in a session: their number, their length, their names, and that each
 * name has one owner there. One bad tool refuses the whole message.
 */
import { isDeepStrictEqual } from 'node:util';
import { isRecord } from '@atrium/core/util/shape.js';
import { GatewayErrorCode, type ProviderToolDefinition, TOOLS_PER_PROVIDER_MAX } from '@atrium/protocol/provider';
import { GatewayError, tooLong, tooMany } from '../gateway-errors.js';
import type { GatewaySession } from '../gateway-session.js';
import { extensionId, type Provider } from '../provider.js';
import { metaToolName } from './tool-instances.js';

/**
 * All tools of a provider in a session, as JSON. The model reads them with every request, and after each change the
 * host stores and sends all of them. `TOOLS_PER_PROVIDER_MAX` limits their number.
 */
export const TOOLS_MAX_CHARACTERS = 2 ** 18;

export const TOOL_NAME_MAX_CHARACTERS = 128;
/** Control and format characters, which terminals obey and people do not see. */
const INVISIBLE = /[\p{Cc}\p{Cf}\p{Cs}]/u;

export function checkToolCount(count: number): void {
  if (count > TOOLS_PER_PROVIDER_MAX) throw tooMany('tools', TOOLS_PER_PROVIDER_MAX);
}

/** Throws for the first tool that cannot be registered, and says why. */
export function checkTools(
  provider: Provider,
  session: GatewaySession,
  tools: Iterable<ProviderToolDefinition> = provider.registration.tools.values(),
): void {
  const wanted = [...tools];
  checkToolCount(wanted.length);
  const characters = wanted.reduce((sum, tool) => sum + lengthOf(tool), 0);
  if (characters > TOOLS_MAX_CHARACTERS) throw tooLong('tools', TOOLS_MAX_CHARACTERS);
  const owners = ownersIn(session, provider);
  const others = session.groups().filter(({ name }) => name !== provider.name);
  for (const tool of wanted) {
    checkToolName(tool.name);
    checkParameters(tool);
    const owner = owners.get(tool.name);
    if (owner !== undefined) throw conflict(tool.name, `belongs to ${owner}`);
    if (tool.name === metaToolName(provider.name)) throw conflict(tool.name, 'is a tool of the gateway');
    const reserved = others.find(({ name }) => isReservedFor(name, tool.name));
    if (reserved) throw conflict(tool.name, `is reserved for ${reserved.name}`);
    checkShared(provider, session, tool);
  }
}

function checkToolName(name: string): void {
  if (name.length <= TOOL_NAME_MAX_CHARACTERS && !INVISIBLE.test(name)) return;
  const message = `a tool has a name of at most ${TOOL_NAME_MAX_CHARACTERS} characters, all of them visible: rename it`;
  throw new GatewayError(GatewayErrorCode.InvalidJson, message);
}

function checkParameters({ name, parameters }: ProviderToolDefinition): void {
  const { type = 'object', properties = {}, required = [] } = parameters;
  if (type !== 'object') throw invalid(name, 'type', 'must be "object"');
  if (!isRecord(properties) || !Object.values(properties).every(isRecord))
    throw invalid(name, 'properties', 'must be an object of schemas');
  if (!Array.isArray(required) || !required.every((key) => typeof key === 'string'))
    throw invalid(name, 'required', 'must be a list of names');
}

function invalid(tool: string, member: string, problem: string): GatewayError {
  const message = `the tool ${tool} has wrong parameters: "${member}" ${problem}`;
  return new GatewayError(GatewayErrorCode.InvalidJson, message);
}

/** The owners of all tool names except this provider's. A provider that is away or switched off keeps its names. */
function ownersIn(session: GatewaySession, provider: Provider): Map<string, string> {
  const own = extensionId(provider.name);
  const owners = new Map<string, string>();
  for (const { name } of session.state.activeClients.flatMap(({ tools }) => tools))
    owners.set(name, 'the active client');
  for (const { provider: other, tools } of session.bindings) {
    if (other.name !== provider.name) for (const name of tools.keys()) owners.set(name, other.name);
  }
  for (const { definition, owner } of session.extensions.tools()) {
    if (owner !== own && !owners.has(definition.name)) owners.set(definition.name, owner ?? 'the host');
  }
  return owners;
}

const lengths = new WeakMap<ProviderToolDefinition, number>();

/** Cached: a definition never changes, and is measured with every update. */
function lengthOf(tool: ProviderToolDefinition): number {
  const length = lengths.get(tool) ?? JSON.stringify(tool).length;
  lengths.set(tool, length);
  return length;
}

function isReservedFor(providerName: string, tool: string): boolean {
  const prefix = `list_${providerName}`;
  return tool === prefix || tool.startsWith(`${prefix}_`);
}

/** Instances share one copy of a tool, so its parameters must be the same. */
function checkShared(provider: Provider, session: GatewaySession, tool: ProviderToolDefinition): void {
  for (const { provider: other, tools } of session.group(provider.name).bindings) {
    const known = other.instance === provider.instance ? undefined : tools.get(tool.name);
    if (known && !isDeepStrictEqual(known.parameters, tool.parameters))
      throw conflict(tool.name, `has other parameters at ${other.title}`);
  }
}

function conflict(tool: string, why: string): GatewayError {
  return new GatewayError(GatewayErrorCode.ToolConflict, `the tool ${tool} ${why}: rename it`);
}
