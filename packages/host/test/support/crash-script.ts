/** What the agent of a host that is going to be killed does: streams, asks for permission, thinks, fails. */
import type { Script } from '../../src/agents/scripted/script.js';

const SENTENCE = 'The quick brown fox jumps over the lazy dog, and then it does so once more. ';

export const CRASH_SCRIPT: Script = {
  provider: 'mock',
  displayName: 'Mock',
  models: [
    { id: 'small', name: 'Small' },
    { id: 'large', name: 'Large' },
  ],
  prompts: {
    quick: [{ text: 'Done.' }],
    stream: [{ text: SENTENCE.repeat(2), chunk: 8, everyMs: 2 }],
    long: [{ text: SENTENCE.repeat(6), chunk: 6, everyMs: 5 }],
    think: [
      { reasoning: SENTENCE, chunk: 12, everyMs: 1 },
      { usage: { inputTokens: 10, outputTokens: 20 } },
      { text: SENTENCE, chunk: 12, everyMs: 1 },
    ],
    tool: [
      {
        tool: {
          name: 'write',
          displayName: 'Write',
          invocationMessage: 'Write a file',
          pastTenseMessage: 'Wrote a file',
          output: 'written',
          success: true,
          confirm: true,
        },
      },
      { text: 'It said: ${lastResult}' },
    ],
    ask: [
      { ask: { message: 'Go on?', questions: [{ id: 'more', kind: 'text', message: 'Why?' }] } },
      { text: 'You said: ${lastResult}' },
    ],
    fail: [{ text: 'So far, so good.' }, { error: { errorType: 'boom', message: 'It broke.' } }],
  },
  default: [{ text: 'You said: ${text}', chunk: 6, everyMs: 1 }],
};

export const CRASH_PROMPTS = [
  'quick',
  'stream',
  'stream',
  'long',
  'long',
  'think',
  'tool',
  'tool',
  'ask',
  'fail',
] as const;
