import { describe, expect, it } from 'vitest';
import {
  ANTHROPIC_MODELS,
  configuredModels,
  isKnownToSee,
  namedModel,
  OPENAI_MODELS,
} from '../../src/discovery/models.js';

describe('models that are known to see', () => {
  it.each([
    ...['claude-sonnet-4-5', 'anthropic/claude-opus-5-5', 'gpt-4o-mini', 'openai/gpt-5.4', 'gemini-3-pro'],
    ...['qwen2.5vl:7b', 'Qwen3-VL-30B', 'llama3.2-vision:11b', 'llava:13b', 'gemma3:12b', 'gemma-3-27b-it'],
    ...['llama-4-scout', 'mistral-small3.1', 'pixtral-12b', 'minicpm-v', 'phi-4-multimodal'],
  ])('%s', (id) => expect(isKnownToSee(id)).toBe(true));

  it.each([
    ...['gpt-oss:20b', 'llama3.3:70b', 'qwen3-coder:30b', 'gemma3:1b', 'gemma-3-270m-it', 'mistral-small:22b'],
    ...['gpt-3.5-turbo', 'deepseek-v3', 'devstral', 'gpt-4o-audio-preview', 'phi4', 'supervision', 'vlad'],
  ])('not %s', (id) => expect(isKnownToSee(id)).toBe(false));

  it('are offered so, and the configuration has the last word', () => {
    expect([...ANTHROPIC_MODELS, ...OPENAI_MODELS].every(({ supportsVision }) => supportsVision)).toBe(true);
    expect(namedModel('llava')).toEqual({ id: 'llava', name: 'llava', supportsVision: true });
    expect(namedModel('m')).toEqual({ id: 'm', name: 'm' });
    const configured = configuredModels([
      'gpt-4o',
      { id: 'mine', vision: true },
      { id: 'llava', name: 'L', vision: false },
    ]);
    expect(configured.map(({ supportsVision }) => supportsVision)).toEqual([true, true, false]);
  });
});
