/** Agents that the configuration describes. */

import { shownAddress } from '@atrium/core/util/addresses.js';
import { type AcpEntry, type Config, isTyped, type ModelEntry, type TypedEntry } from '../config/config-schema.js';
import { type Candidate, type Machine, NAMED_TIMEOUT_MS, notFound, type Probe } from './candidate.js';
import { acpProbe, sdkName, sdkProbe } from './installed-agents.js';
import { anthropicAddress } from './model-servers.js';
import { ANTHROPIC_MODELS, configuredModels, modelProbe, OPENAI_MODELS, servedModelProbe } from './models.js';

export function configuredCandidates({ agents = {} }: Config, machine: Machine): Candidate[] {
  return Object.entries(agents).flatMap(([provider, entry]): Candidate[] => {
    if (!isTyped(entry)) return [];
    const displayName = entry.displayName ?? nameOf(provider, entry);
    const look = () => probe({ provider, displayName }, entry, machine);
    return [{ provider, displayName, source: 'config', isNamed: true, probe: look }];
  });
}

interface Names {
  readonly provider: string;
  readonly displayName: string;
}

function nameOf(provider: string, { type }: TypedEntry): string {
  return type === 'copilot' || type === 'claude' ? sdkName(type) : provider;
}

async function probe(names: Names, entry: TypedEntry, machine: Machine): Promise<Probe> {
  if (entry.type === 'model') return probeModel(names, entry, machine);
  if (entry.type === 'acp') return probeCommand(names, entry, machine);
  const { type, models, env } = entry;
  return sdkProbe(machine, type, { ...names, models, env });
}

async function probeCommand(names: Names, entry: AcpEntry, machine: Machine): Promise<Probe> {
  const { command, args = [], env, cwd } = entry;
  const file = await machine.which(command);
  if (file !== undefined) return acpProbe(machine, { ...names, command: file, args, env, cwd }, `configured: ${file}`);
  const where = /[\\/]/.test(command) ? 'is not a program' : 'is not on PATH';
  return notFound(`configured, but ${command} ${where}: install it, or correct "command"`);
}

async function probeModel(names: Names, entry: ModelEntry, machine: Machine): Promise<Probe> {
  const variable = entry.apiKeyEnv ?? usualVariable(entry);
  const apiKey = (variable && machine.env[variable]) || undefined;
  if (variable && !apiKey) return notFound(`configured, but ${variable} is not set: export it`);
  const { api, headers, judge: judgeModel, titles: titleModel } = entry;
  const models = entry.models && configuredModels(entry.models);
  const baseURL = entry.baseURL ?? usualAddress(entry, machine);
  const why = `configured${baseURL ? `, at ${shownAddress(baseURL)}` : ''}`;
  if (api === 'openai-compatible') {
    const whatToDo = 'start it, or name its models in the configuration ("models")';
    const served = { ...names, baseURL: baseURL ?? '', apiKey, headers, models, judgeModel, titleModel, why, whatToDo };
    return servedModelProbe(machine, { ...served, timeoutMs: NAMED_TIMEOUT_MS });
  }
  const known = api === 'anthropic' ? ANTHROPIC_MODELS : OPENAI_MODELS;
  return modelProbe(
    machine,
    { ...names, kind: api, baseURL, apiKey, headers, models: models ?? known, judgeModel },
    why,
  );
}

/** A key belongs to the provider's own address; it is sent to another address only if the configuration says so. */
function usualVariable({ api, baseURL }: ModelEntry): string | undefined {
  if (baseURL !== undefined || api === 'openai-compatible') return undefined;
  return api === 'anthropic' ? 'ANTHROPIC_API_KEY' : 'OPENAI_API_KEY';
}

function usualAddress({ api }: ModelEntry, machine: Machine): string | undefined {
  if (api === 'openai-compatible') return undefined;
  return api === 'anthropic' ? anthropicAddress(machine) : machine.env.OPENAI_BASE_URL || undefined;
}
