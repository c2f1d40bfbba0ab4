/**
 * The models that are offered for a key when the configuration names none. Asking the provider instead would send
 * something over the network at every start, and its list is full of models that cannot work as an agent.
 */
import type { ModelInfo } from '../agents/model/model-agent.js';
import type { ConfiguredModels } from '../config/schema.js';
import { isKnownToSee } from './vision.js';

export const ANTHROPIC_MODELS: readonly ModelInfo[] = [
  { id: 'claude-sonnet-5-5', name: 'Claude Sonnet 5.5', maxContextWindow: 200_000, supportsVision: true },
  { id: 'claude-opus-5-5', name: 'Claude Opus 5.5', maxContextWindow: 200_000, supportsVision: true },
  { id: 'claude-haiku-5-5', name: 'Claude Haiku 5.5', maxContextWindow: 200_000, supportsVision: true },
];

export const OPENAI_MODELS: readonly ModelInfo[] = [
  { id: 'gpt-6.1-sol', name: 'GPT-6.1 Sol', supportsVision: true },
  { id: 'gpt-6.1-terra', name: 'GPT-6.1 Terra', supportsVision: true },
  { id: 'gpt-6-luna', name: 'GPT-6 Luna', supportsVision: true },
  { id: 'gpt-5.4', name: 'GPT-5.4', supportsVision: true },
  { id: 'gpt-5.4-mini', name: 'GPT-5.4 mini', supportsVision: true },
];

/** Models as the configuration writes them. */
export function configuredModels(models: ConfiguredModels): ModelInfo[] {
  return models.map((model) => {
    if (typeof model === 'string') return namedModel(model);
    const { id, name = id, contextWindow, vision } = model;
    return {
      ...namedModel(id),
      name,
      ...(contextWindow !== undefined && { maxContextWindow: contextWindow }),
      ...(vision !== undefined && { supportsVision: vision }),
    };
  });
}

export function namedModel(id: string): ModelInfo {
  return { id, name: id, ...(isKnownToSee(id) && { supportsVision: true }) };
}
