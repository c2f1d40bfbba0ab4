/** Agents that the configuration describes. */

import { shownAddress } from '@atrium/core/util/addresses.js';
import { type AcpEntry, type Config, isTyped, type ModelEntry, type TypedEntry } from '../config/config-schema.js';
import { type Candidate, type Look, type Machine, NAMED_TIMEOUT_MS, notFound } from './candidate.js';
import { acpLook, sdkLook, sdkName } from './installed-agents.js';
import { anthropicAddress } from './model-servers.js';
import { ANTHROPIC_MODELS, configuredModels, modelLook, OPENAI_MODELS, servedModelLook } from './models.js';

export function configuredCandidates({ agents = {} }: Config, machine: Machine): Candidate[] {
  return Object.entries(agents).flatMap(([provider, entry]): Candidate[] => {
    if (!isTyped(entry)) return [];
    const displayName = entry.displayName ?? nameOf(provider, entry);
    const look = () => lookAt({ provider, displayName }, entry, machine);
    return [{ provider, displayName, source: 'config', isNamed: true, look }];
  });
}

interface Names {
  readonly provider: string;
  readonly displayName: string;
}

function nameOf(provider: string, { type }: TypedEntry): string {
  return type === 'copilot' || type === 'claude' ? sdkName(type) : provider;
}

async function lookAt(names: Names, entry: TypedEntry, machine: Machine): Promise<Look> {
  if (entry.type === 'model') return lookAtModel(names, entry, machine);
  if (entry.type === 'acp') return lookAtCommand(names, entry, machine);
  const { type, models, env } = entry;
  return sdkLook(machine, type, { ...names, models, env });
}

async function lookAtCommand(names: Names, entry: AcpEntry, machine: Machine): Promise<Look> {
  const { command, args = [], env, cwd } = entry;
  const file = await machine.which(command);
  if (file !== undefined) return acpLook(machine, { ...names, command: file, args, env, cwd }, `configured: ${file}`);
  const where = /[\\/]/.test(command) ? 'is not a program' : 'is not on PATH';
  return notFound(`configured, but ${command} ${where}: install it, or correct "command"`);
}

async function lookAtModel(names: Names, entry: ModelEntry, machine: Machine): Promise<Look> {
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
    return servedModelLook(machine, { ...served, timeoutMs: NAMED_TIMEOUT_MS });
  }
  const known = api === 'anthropic' ? ANTHROPIC_MODELS : OPENAI_MODELS;
  return modelLook(
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
