/** Which agents the host offers. The first one is the default. */
import {
  type AgentBackend,
  type Logger,
  loadScripts,
  type ModelInfo,
  modelAgent,
  offlineAgent,
  ScriptError,
} from '@atrium/host';
import { lineLogger } from './log-lines.js';

/** How long a model server may take to list its models before the host starts without it. */
export const MODELS_TIMEOUT_MS = 2_000;

type Environment = Readonly<Record<string, string | undefined>>;

export interface AgentSources {
  readonly env?: Environment;
  readonly logger?: Logger;
}

export async function findAgents(
  scripts: readonly string[],
  { env = process.env, logger = toStandardError() }: AgentSources = {},
): Promise<AgentBackend[]> {
  const agents = [...(await loadScripts(scripts)), offlineAgent(), ...(await modelFrom(env, logger))];
  const providers = agents.map(({ info }) => info.provider);
  const repeated = providers.find((provider, index) => providers.indexOf(provider) !== index);
  if (repeated)
    throw new ScriptError(`a script calls itself ${repeated}, as a built-in agent does: give it another provider`);
  return agents;
}

/** A model server that the environment names: `ATRIUM_MODEL_URL`, and perhaps `ATRIUM_MODEL` and `ATRIUM_MODEL_KEY`. */
async function modelFrom(env: Environment, logger: Logger): Promise<AgentBackend[]> {
  if (!env.ATRIUM_MODEL_URL) return [];
  const baseURL = env.ATRIUM_MODEL_URL.replace(/\/+$/, '');
  const apiKey = env.ATRIUM_MODEL_KEY || undefined;
  try {
    const models = env.ATRIUM_MODEL ? [named(env.ATRIUM_MODEL)] : await listModels(baseURL, apiKey);
    const options = { provider: 'model', displayName: 'Model', kind: 'openai-compatible', baseURL, models } as const;
    return [modelAgent({ ...options, ...(apiKey !== undefined && { apiKey }) })];
  } catch (error) {
    logger.log('warn', 'ATRIUM_MODEL_URL lists no models; going on without it', { reason: reasonOf(error) });
    return [];
  }
}

async function listModels(baseURL: string, apiKey: string | undefined): Promise<ModelInfo[]> {
  const headers: Record<string, string> = apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` };
  const response = await fetch(`${baseURL}/models`, { headers, signal: AbortSignal.timeout(MODELS_TIMEOUT_MS) });
  if (!response.ok) throw new Error(`the server answered ${response.status}`);
  const { data }: { data?: unknown } = Object(await response.json());
  const ids = (Array.isArray(data) ? data : []).map((model: { id?: unknown } | null) => model?.id);
  const models = ids.filter((id) => typeof id === 'string').map(named);
  if (models.length === 0) throw new Error('the list is empty; set ATRIUM_MODEL');
  return models;
}

function named(id: string): ModelInfo {
  return { id, name: id };
}

/** What went wrong underneath says more than "fetch failed". */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { cause } = error;
  if (!(cause instanceof Error)) return error.message;
  return `${error.message}: ${'code' in cause ? String(cause.code) : cause.message}`;
}

function toStandardError(): Logger {
  return lineLogger({ level: 'info', format: 'text', write: (line) => process.stderr.write(line) });
}
