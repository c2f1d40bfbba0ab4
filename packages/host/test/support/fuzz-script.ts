/** What the agent of a fuzzed host does. Its pauses are those of the test's clock. */
import type { Script } from '../../../agents/src/scripted/script.js';

export const CLIENT_TOOL = 'lookup';

const write = {
  name: 'write',
  displayName: 'Write',
  invocationMessage: 'Write a file',
  pastTenseMessage: 'Wrote a file',
  output: 'written',
  success: true,
};

export const FUZZ_SCRIPT: Script = {
  provider: 'mock',
  displayName: 'Mock',
  models: [
    { id: 'small', name: 'Small' },
    { id: 'large', name: 'Large' },
  ],
  prompts: {
    quick: [{ text: 'Done.' }],
    stream: [{ text: 'One two three four five six seven.', chunk: 5, everyMs: 10 }],
    think: [
      { reasoning: 'Let me see.', chunk: 3, everyMs: 5 },
      { usage: { inputTokens: 10, outputTokens: 20 } },
      { title: 'Thought about it' },
      { text: 'I see.' },
    ],
    tool: [{ tool: { ...write, confirm: true } }, { text: 'It said: ${lastResult}' }, { tool: write }],
    client: [{ callTool: { name: CLIENT_TOOL, input: { key: 'x' } } }, { text: 'It said: ${lastResult}' }],
    ask: [
      { ask: { message: 'Go on?', questions: [{ id: 'why', kind: 'text', message: 'Why?', required: true }] } },
      { text: 'You said: ${lastResult}' },
    ],
    steer: [{ delayMs: 30 }, { text: 'Steered: ${steering}' }],
    fail: [{ text: 'So far, so good.' }, { error: { errorType: 'boom', message: 'It broke.' } }],
  },
  default: [{ text: 'You said: ${text}', chunk: 6, everyMs: 10 }],
};

export const FUZZ_PROMPTS = [
  'quick',
  'stream',
  'stream',
  'think',
  'tool',
  'tool',
  'client',
  'ask',
  'steer',
  'fail',
] as const;
