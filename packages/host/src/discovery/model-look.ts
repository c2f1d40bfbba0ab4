/** From a server and what is known of it to an agent with its models. */
import type { ModelAgentOptions, ModelInfo } from '../agents/model/model-agent.js';
import { hasLogin } from '../core/util/shown-address.js';
import { type Look, type Machine, NO_FACTORY, notFound } from './candidate.js';
import { namedModel } from './known-models.js';
import { GUESS_TIMEOUT_MS } from './limits.js';
import { listModels } from './model-list.js';

/** Requests cannot carry them, and an address is shown in more places than a key is. */
const NO_LOGIN =
  'it holds a name or a password: take them out, and put the key into the environment variable for it ' +
  '(ATRIUM_MODEL_KEY, or the one that "apiKeyEnv" names)';

export function modelLook({ factories }: Machine, options: ModelAgentOptions, why: string): Look {
  if (options.baseURL !== undefined && hasLogin(options.baseURL)) return notFound(`${why}, but ${NO_LOGIN}`);
  return factories.model ? { found: true, why, backend: factories.model(options) } : NO_FACTORY;
}

export interface ServedModel {
  readonly provider: string;
  readonly displayName: string;
  readonly baseURL: string;
  readonly apiKey?: string | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Without them, the server is asked. */
  readonly models?: readonly ModelInfo[] | undefined;
  readonly timeoutMs?: number;
  /** Why it was looked for. */
  readonly why: string;
  /** In case it does not say which models it has. */
  readonly whatToDo: string;
}

/** A server that speaks chat completions. */
export async function servedModelLook(machine: Machine, served: ServedModel): Promise<Look> {
  const { provider, displayName, apiKey, headers, why } = served;
  const baseURL = served.baseURL.replace(/\/+$/, '');
  if (hasLogin(baseURL)) return notFound(`${why}, but ${NO_LOGIN}`);
  try {
    const models = served.models ?? (await listed(served));
    return modelLook(
      machine,
      { provider, displayName, kind: 'openai-compatible', baseURL, apiKey, headers, models },
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
