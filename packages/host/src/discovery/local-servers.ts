/** Model servers on this machine, on the ports they usually have. They are asked without a key. */

import type { ChangeEntry } from '../config/schema.js';
import { type Candidate, type Look, type Machine, notFound } from './candidate.js';
import { configuredModels, namedModel } from './known-models.js';
import { GUESS_TIMEOUT_MS } from './limits.js';
import { listModels } from './model-list.js';
import { modelLook, reasonOf } from './model-look.js';
import { isOpen } from './open-port.js';

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
    look: (changes) => lookAt(server, machine, changes),
  }));
}

async function lookAt(server: LocalServer, machine: Machine, changes: ChangeEntry): Promise<Look> {
  const { provider, port, start } = server;
  const baseURL = `http://127.0.0.1:${port}/v1`;
  const { displayName = server.displayName, models } = changes;
  if (!(await isOpen(port))) return notFound(`nothing listens on port ${port}: start it with ${start}`);
  try {
    const ids = await listModels({ baseURL, timeoutMs: GUESS_TIMEOUT_MS, isGuess: true });
    if (ids.length === 0) return notFound(`port ${port} answers, but has no models yet: load or pull one`);
    const offered = models ? configuredModels(models) : ids.map(namedModel);
    const options = { provider, displayName, kind: 'openai-compatible', baseURL, models: offered } as const;
    return modelLook(machine, options, `answers on port ${port}`);
  } catch (error) {
    return notFound(`port ${port} is used by something else (${reasonOf(error)})`);
  }
}
