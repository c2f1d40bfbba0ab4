/**
 * Model servers and their models: which models a server has, which of them accept images, and the agent that uses them.
 */
import type { IncomingMessage } from 'node:http';
import type { ModelAgentOptions, ModelInfo } from '@atrium/agents';
import { hasLogin } from '@atrium/core/util/addresses.js';
import { isRecord } from '@atrium/core/util/shape.js';
import type { ConfiguredModels } from '../config/config-schema.js';
import {
  GUESS_TIMEOUT_MS,
  type Machine,
  MODEL_ID_MAX_CHARACTERS,
  MODEL_LIST_MAX_BYTES,
  MODELS_MAX,
  NO_FACTORY,
  notFound,
  type Probe,
} from './candidate.js';

/** Requests cannot carry a login, and addresses are shown in more places than keys. */
const NO_LOGIN =
  'it holds a name or a password: take them out, and put the key into the environment variable for it ' +
  '(ATRIUM_MODEL_KEY, or the one that "apiKeyEnv" names)';

export function modelProbe({ factories }: Machine, options: ModelAgentOptions, why: string): Probe {
  if (options.baseURL !== undefined && hasLogin(options.baseURL)) return notFound(`${why}, but ${NO_LOGIN}`);
  return factories.model ? { found: true, why, backend: factories.model(options) } : NO_FACTORY;
}

interface ServedModel {
  readonly provider: string;
  readonly displayName: string;
  readonly baseURL: string;
  readonly apiKey?: string | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** If absent, the host asks the server. */
  readonly models?: readonly ModelInfo[] | undefined;
  readonly judgeModel?: string | undefined;
  readonly titleModel?: string | undefined;
  readonly timeoutMs?: number;
  /** Why discovery looked for it. */
  readonly why: string;
  /** Advice for the case that the server does not list its models. */
  readonly whatToDo: string;
}

/** A server that speaks chat completions. */
export async function servedModelProbe(machine: Machine, served: ServedModel): Promise<Probe> {
  const { provider, displayName, apiKey, headers, why } = served;
  const baseURL = served.baseURL.replace(/\/+$/, '');
  if (hasLogin(baseURL)) return notFound(`${why}, but ${NO_LOGIN}`);
  try {
    const models = served.models ?? (await listed(served));
    return modelProbe(
      machine,
      {
        provider,
        displayName,
        kind: 'openai-compatible',
        baseURL,
        apiKey,
        headers,
        models,
        judgeModel: served.judgeModel,
        titleModel: served.titleModel,
      },
      why,
    );
  } catch (error) {
    return notFound(`${why}, but ${reasonOf(error)}: ${served.whatToDo}`);
  }
}

async function listed({ baseURL, apiKey, headers, timeoutMs = GUESS_TIMEOUT_MS }: ServedModel): Promise<ModelInfo[]> {
  const authorization: Record<string, string> = apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` };
  const ids = await listModels({ baseURL, timeoutMs, headers: { ...headers, ...authorization } });
  if (ids.length === 0) throw new Error('its list of models is empty');
  return ids.map(namedModel);
}

export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const code = 'code' in error ? String(error.code) : '';
  return REASONS[code] ?? error.message;
}

const REASONS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nothing listens there (ECONNREFUSED)',
  ENOTFOUND: 'there is no machine of that name (ENOTFOUND)',
  ECONNRESET: 'it broke off (ECONNRESET)',
  HPE_INVALID_CONSTANT: 'it does not speak HTTP',
  ERR_INVALID_URL: 'that is not an address',
  ERR_INVALID_PROTOCOL: 'that is not an address that begins with http:// or https://',
};

interface ModelListRequest {
  readonly baseURL: string;
  readonly timeoutMs: number;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** The host only guesses that this is a model server, so the answer must declare itself a list of models. */
  readonly isGuess?: boolean;
}

/**
 * Asks a server at `/models` for the ids of its chat models, within limits and without following redirects. The error
 * says what is wrong.
 */
export async function listModels(request: ModelListRequest): Promise<string[]> {
  const { baseURL, timeoutMs, headers = {}, isGuess = false } = request;
  const url = new URL(`${baseURL.replace(/\/+$/, '')}/models`);
  const models = modelsIn(parsed(await textOf(url, headers, timeoutMs)), isGuess);
  if (!models) throw new Error('the answer is not a list of models');
  return models
    .map((model) => (isRecord(model) ? model.id : undefined))
    .filter((id) => typeof id === 'string')
    .filter(isUsable)
    .slice(0, MODELS_MAX);
}

/** A web server on the same port may well answer with other JSON. Some model servers write `null` for an empty list. */
function modelsIn(list: unknown, isGuess: boolean): unknown[] | undefined {
  if (!isRecord(list) || (isGuess && list.object !== 'list')) return undefined;
  const models = list.data ?? [];
  if (!Array.isArray(models)) return undefined;
  return !isGuess || models.every((model) => isRecord(model) && model.object === 'model') ? models : undefined;
}

/** Embedding models are in the same list, but cannot chat. */
function isUsable(id: string): boolean {
  return id.length <= MODEL_ID_MAX_CHARACTERS && /^[^\s\p{C}]+$/u.test(id) && !/(^|[^a-z])embed/i.test(id);
}

async function textOf(url: URL, headers: Readonly<Record<string, string>>, timeoutMs: number): Promise<string> {
  const signal = AbortSignal.timeout(timeoutMs);
  try {
    const response = await answerOf(url, headers, signal);
    const { statusCode } = response;
    if (statusCode === 200) return await bodyOf(response);
    response.destroy();
    throw new Error(`the server answered ${statusCode}`);
  } catch (error) {
    if (signal.aborted) throw new Error(`no answer within ${timeoutMs} ms`);
    throw error;
  }
}

async function answerOf(url: URL, headers: Readonly<Record<string, string>>, signal: AbortSignal) {
  const { request } = url.protocol === 'https:' ? await import('node:https') : await import('node:http');
  return new Promise<IncomingMessage>((resolve, reject) => {
    const accept = { accept: 'application/json' };
    request(url, { headers: { ...accept, ...headers }, signal, agent: false })
      .on('response', resolve)
      .on('error', reject)
      .end();
  });
}

async function bodyOf(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of response) {
    bytes += chunk.length;
    if (bytes > MODEL_LIST_MAX_BYTES) throw new Error('the answer is too large for a list of models');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new Error('the answer is not JSON');
  }
}

/** The efforts that both providers accept for models that think. */
const EFFORTS = ['low', 'medium', 'high'];

/**
 * The models that are offered for a key when the configuration names none. Asking the provider would send something
 * over the network at every start, and its list is full of models that cannot work as an agent.
 */
export const ANTHROPIC_MODELS: readonly ModelInfo[] = [
  { id: 'claude-sonnet-5-5', name: 'Claude Sonnet 5.5' },
  { id: 'claude-opus-5-5', name: 'Claude Opus 5.5' },
  { id: 'claude-haiku-5-5', name: 'Claude Haiku 5.5' },
].map((model) => ({ ...model, maxContextWindow: 200_000, supportsVision: true, reasoningEfforts: EFFORTS }));

export const OPENAI_MODELS: readonly ModelInfo[] = [
  { id: 'gpt-6.1-sol', name: 'GPT-6.1 Sol' },
  { id: 'gpt-6.1-terra', name: 'GPT-6.1 Terra' },
  { id: 'gpt-6-luna', name: 'GPT-6 Luna' },
  { id: 'gpt-5.4', name: 'GPT-5.4' },
  { id: 'gpt-5.4-mini', name: 'GPT-5.4 mini' },
].map((model) => ({ ...model, supportsVision: true, reasoningEfforts: EFFORTS }));

/** Models in the form of the configuration. */
export function configuredModels(models: ConfiguredModels): ModelInfo[] {
  return models.map((model) => {
    if (typeof model === 'string') return namedModel(model);
    const { id, name = id, contextWindow, vision, reasoningEfforts, temperature } = model;
    return {
      ...namedModel(id),
      name,
      ...(contextWindow !== undefined && { maxContextWindow: contextWindow }),
      ...(vision !== undefined && { supportsVision: vision }),
      ...(reasoningEfforts !== undefined && { reasoningEfforts }),
      ...(temperature !== undefined && { hasTemperature: temperature }),
    };
  });
}

export function namedModel(id: string): ModelInfo {
  const sees = seesByName(id);
  return { id, name: id, ...(sees !== undefined && { supportsVision: sees }) };
}

/** Families whose models accept text and images without a mark in their names. */
const FAMILIES = [
  /claude-(?:3|4|5|opus|sonnet|haiku)/,
  /gpt-(?:4o|4\.1|4\.5|[5-9])/,
  /gemini-/,
  /gemma-?(?:3n|[34](?!:270m|:1b|-270m|-1b))/,
  /llama-?4/,
  /mistral-(?:small-?3\.|medium-3|large-3)/,
  /pixtral|llava|bakllava|moondream|minicpm-?v|internvl|molmo|smolvlm|idefics/,
];

/** Marks that builders put into names of models that accept images. */
const MARKS = /(?:^|[^a-z])(?:vision|vlm?|omni|multimodal)(?:[^a-z]|$)/;

/** Similar names of models that do not accept images. */
const BLIND = /gpt-oss|-audio|-realtime|-transcribe|-tts|text-only/;

/** Families that accept text only, unless a mark says otherwise. */
const TEXT_FAMILIES = [
  /gpt-3\.5|o1-mini|o3-mini|davinci/,
  /deepseek-(?:chat|coder|reasoner|r1|v[23])/,
  /codellama|code-llama|llama-?(?:2|3(?:\.[13])?)(?:[^.\d]|$)/,
  /qwen-?(?:2\.5|3)?-?coder/,
  /mixtral|mistral-(?:7b|nemo)|codestral|devstral-small-2505/,
  /starcoder|phi-?[234](?!\.5-vision|-multimodal)|granite-code|smollm|tinyllama/,
];

/**
 * Whether a model accepts images, by its name: servers do not say so, and an image makes the request to any other model
 * fail. Undefined: not known.
 */
export function seesByName(id: string): boolean | undefined {
  const name = id.toLowerCase();
  if (BLIND.test(name)) return false;
  if (MARKS.test(name) || FAMILIES.some((family) => family.test(name))) return true;
  return TEXT_FAMILIES.some((family) => family.test(name)) ? false : undefined;
}
