import { describe, expect, it } from 'vitest';
import {
  ANTHROPIC_MODELS,
  configuredModels,
  namedModel,
  OPENAI_MODELS,
  seesByName,
} from '../../src/discovery/models.js';

describe('models that are known to see', () => {
  it.each([
    ...['claude-sonnet-4-5', 'anthropic/claude-opus-5-5', 'gpt-4o-mini', 'openai/gpt-5.4', 'gemini-3-pro'],
    ...['qwen2.5vl:7b', 'Qwen3-VL-30B', 'llama3.2-vision:11b', 'llava:13b', 'gemma3:12b', 'gemma-3-27b-it'],
    ...['llama-4-scout', 'mistral-small3.1', 'pixtral-12b', 'minicpm-v', 'phi-4-multimodal'],
  ])('%s', (id) => expect(seesByName(id)).toBe(true));

  it.each([
    ...['gpt-oss:20b', 'llama3.3:70b', 'llama3:8b', 'qwen3-coder:30b', 'gpt-3.5-turbo', 'deepseek-v3'],
    ...['deepseek-r1:14b', 'gpt-4o-audio-preview', 'phi4', 'mixtral:8x7b', 'o3-mini', 'codellama:7b'],
  ])('not %s, which reads text only [DAY-011]', (id) => expect(seesByName(id)).toBe(false));

  it.each(['gemma3:1b', 'gemma-3-270m-it', 'mistral-small:22b', 'devstral', 'supervision', 'vlad', 'my-own'])(
    'of %s it is not known [DAY-011]',
    (id) => expect(seesByName(id)).toBeUndefined(),
  );

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
