/** What the agent of a fuzzed host does. Its pauses are those of the test's clock. */
import type { HostTool } from '@atrium/core/contracts/tool.js';
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

/** Input that is longer goes by reference in worlds with long input. */
export const FUZZ_INLINE_MAX_CHARACTERS = 100;
const FUZZ_LONG_INPUT = { text: 'long '.repeat(FUZZ_INLINE_MAX_CHARACTERS) };

const writesMuch: Script['default'] = [
  { callTool: { name: 'write', input: FUZZ_LONG_INPUT } },
  { text: 'It said: ${lastResult}' },
  { tool: { ...write, input: FUZZ_LONG_INPUT } },
];

/** The same prompts, several of them with a tool whose input is long, and may be edited. */
export const LONG_INPUT_SCRIPT: Script = {
  ...FUZZ_SCRIPT,
  prompts: { ...FUZZ_SCRIPT.prompts, tool: writesMuch, quick: writesMuch, stream: writesMuch },
};

export const LONG_INPUT_TOOL: HostTool = {
  definition: { name: 'write' },
  displayName: 'Write',
  invocationMessage: () => 'Write a file',
  confirmation: () => ({ title: 'Write it?', editable: true }),
  run: async () => ({ success: true, pastTenseMessage: 'Wrote a file', content: [{ type: 'text', text: 'written' }] }),
};

/** What people make of such an input. */
export const FUZZ_EDITS = [
  '{"text":"short"}',
  '{"text":"another"}',
  JSON.stringify({ text: 'x'.repeat(300) }),
] as const;

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
