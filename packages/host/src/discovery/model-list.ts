/** Asks a model server for its models, at `/models`. What comes back is a stranger's: bounded, and never followed elsewhere. */
import type { IncomingMessage } from 'node:http';
import { isRecord } from '../core/util/shape.js';
import { MODEL_ID_MAX_CHARACTERS, MODEL_LIST_MAX_BYTES, MODELS_MAX } from './limits.js';

export interface ModelListRequest {
  readonly baseURL: string;
  readonly timeoutMs: number;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Nobody named this server, so it must say itself that this is a list of models. */
  readonly isGuess?: boolean;
}

/** The ids of the models that can talk; throws an error that says what was wrong. */
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

/** A web server on the same port may well answer with some JSON. Some model servers write `null` for an empty list. */
function modelsIn(list: unknown, isGuess: boolean): unknown[] | undefined {
  if (!isRecord(list) || (isGuess && list.object !== 'list')) return undefined;
  const models = list.data ?? [];
  if (!Array.isArray(models)) return undefined;
  return !isGuess || models.every((model) => isRecord(model) && model.object === 'model') ? models : undefined;
}

/** Embeddings stand in the same list, and cannot talk. */
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
