/**
 * Agents behind model servers: keys and addresses in the environment, and servers on the usual ports of this machine.
 */
import { connect } from 'node:net';
import { shownAddress } from '@atrium/core/util/addresses.js';
import type { ChangeEntry } from '../config/config-schema.js';
import { type Candidate, GUESS_TIMEOUT_MS, type Machine, NAMED_TIMEOUT_MS, notFound, type Probe } from './candidate.js';
import {
  ANTHROPIC_MODELS,
  configuredModels,
  listModels,
  modelProbe,
  namedModel,
  OPENAI_MODELS,
  reasonOf,
  servedModelProbe,
} from './models.js';

/** The display name of the agent of `ATRIUM_MODEL_URL`. */
const MODEL_SERVER = 'Model server';

export function environmentCandidates(machine: Machine): Candidate[] {
  const { env } = machine;
  const fromKey = { source: 'environment', isNamed: false } as const;
  return [
    {
      provider: 'model',
      displayName: MODEL_SERVER,
      source: 'environment',
      isNamed: Boolean(env.ATRIUM_MODEL_URL),
      probe: (changes) => probeServer(machine, changes),
    },
    {
      ...fromKey,
      provider: 'anthropic',
      displayName: 'Anthropic',
      probe: (changes) => probeAnthropic(machine, changes),
    },
    { ...fromKey, provider: 'openai', displayName: 'OpenAI', probe: (changes) => probeOpenAi(machine, changes) },
  ];
}

async function probeServer(machine: Machine, { displayName = MODEL_SERVER, models }: ChangeEntry): Promise<Probe> {
  const { ATRIUM_MODEL_URL: baseURL, ATRIUM_MODEL: model, ATRIUM_MODEL_KEY: key } = machine.env;
  if (!baseURL) {
    return notFound('ATRIUM_MODEL_URL is not set: give it the address of your model server, up to and with /v1');
  }
  return servedModelProbe(machine, {
    provider: 'model',
    displayName,
    baseURL,
    apiKey: key || undefined,
    models: models ? configuredModels(models) : model ? [namedModel(model)] : undefined,
    timeoutMs: NAMED_TIMEOUT_MS,
    why: `ATRIUM_MODEL_URL names ${shownAddress(baseURL)}`,
    whatToDo: 'check ATRIUM_MODEL_URL, or set ATRIUM_MODEL to the model to use',
  });
}

async function probeAnthropic(machine: Machine, changes: ChangeEntry): Promise<Probe> {
  const { ANTHROPIC_API_KEY: apiKey } = machine.env;
  if (!apiKey) return notFound('ANTHROPIC_API_KEY is not set: export it to work with Claude models');
  const { displayName = 'Anthropic', models } = changes;
  const baseURL = anthropicAddress(machine);
  const options = {
    ...({ provider: 'anthropic', displayName, kind: 'anthropic', apiKey, baseURL } as const),
    models: models ? configuredModels(models) : ANTHROPIC_MODELS,
  };
  return modelProbe(machine, options, `ANTHROPIC_API_KEY is set${at('ANTHROPIC_BASE_URL', baseURL)}`);
}

/** People write this address without the version, because the provider's own programs expect that. */
export function anthropicAddress({ env }: Machine): string | undefined {
  const address = env.ANTHROPIC_BASE_URL?.replace(/\/+$/, '');
  return address && (/\/v\d+$/.test(address) ? address : `${address}/v1`);
}

/**
 * With another address it is another server: the host asks it for its models, and uses the older wire format that all
 * such servers support.
 */
async function probeOpenAi(machine: Machine, changes: ChangeEntry): Promise<Probe> {
  const { OPENAI_API_KEY: apiKey, OPENAI_BASE_URL: baseURL } = machine.env;
  if (!apiKey) return notFound('OPENAI_API_KEY is not set: export it to work with OpenAI models');
  const { displayName = 'OpenAI' } = changes;
  const provider = 'openai';
  const models = changes.models && configuredModels(changes.models);
  const why = `OPENAI_API_KEY is set${at('OPENAI_BASE_URL', baseURL)}`;
  if (!baseURL) {
    return modelProbe(machine, { provider, displayName, kind: 'openai', apiKey, models: models ?? OPENAI_MODELS }, why);
  }
  const whatToDo = 'check OPENAI_BASE_URL, or name the models in the configuration ("agents.openai.models")';
  return servedModelProbe(machine, { provider, displayName, baseURL, apiKey, models, why, whatToDo });
}

function at(variable: string, address: string | undefined): string {
  return address ? `, and ${variable} names ${shownAddress(address)}` : '';
}

/** A model server on this machine, on its usual port. The host asks it without a key. */
export interface LocalServer {
  readonly provider: string;
  readonly displayName: string;
  readonly port: number;
  readonly start: string;
}

export const LOCAL_SERVERS: readonly LocalServer[] = [
  { provider: 'ollama', displayName: 'Ollama', port: 11_434, start: 'ollama serve' },
  { provider: 'llama-cpp', displayName: 'llama.cpp', port: 8080, start: 'llama-server -m <model.gguf>' },
  { provider: 'lm-studio', displayName: 'LM Studio', port: 1234, start: 'lms server start' },
  { provider: 'vllm', displayName: 'vLLM', port: 8000, start: 'vllm serve <model>' },
];

export function localServerCandidates(servers: readonly LocalServer[], machine: Machine): Candidate[] {
  return servers.map((server) => ({
    provider: server.provider,
    displayName: server.displayName,
    source: 'local-server',
    isNamed: false,
    probe: (changes) => probe(server, machine, changes),
  }));
}

async function probe(server: LocalServer, machine: Machine, changes: ChangeEntry): Promise<Probe> {
  const { provider, port, start } = server;
  const baseURL = `http://127.0.0.1:${port}/v1`;
  const { displayName = server.displayName, models } = changes;
  if (!(await isOpen(port))) return notFound(`nothing listens on port ${port}: start it with ${start}`);
  try {
    const ids = await listModels({ baseURL, timeoutMs: GUESS_TIMEOUT_MS, isGuess: true });
    if (ids.length === 0) return notFound(`port ${port} answers, but has no models yet: load or pull one`);
    const offered = models ? configuredModels(models) : ids.map(namedModel);
    const options = { provider, displayName, kind: 'openai-compatible', baseURL, models: offered } as const;
    return modelProbe(machine, options, `answers on port ${port}`);
  } catch (error) {
    return notFound(`port ${port} is used by something else (${reasonOf(error)})`);
  }
}

/** Whether a program listens on a port. Mostly none does, and this is faster than a request. */
async function isOpen(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host: '127.0.0.1', port, timeout: GUESS_TIMEOUT_MS });
    const answer = (isOpen: boolean) => () => {
      socket.destroy();
      resolve(isOpen);
    };
    socket.on('connect', answer(true)).on('error', answer(false)).on('timeout', answer(false));
  });
}
