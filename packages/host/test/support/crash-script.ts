/** What the agent of a host that is going to be killed does: streams, asks for permission, thinks, fails. */
import { tmpdir } from 'node:os';
import { pathToFileURL } from 'node:url';
import type { Script, Step } from '../../../agents/src/scripted/script.js';

const SENTENCE = 'The quick brown fox jumps over the lazy dog, and then it does so once more. ';

/** Where sessions work: commands need a place. */
export const CRASH_WORK_FOLDER = pathToFileURL(tmpdir()).href;

function command(line: string): Step {
  return { callTool: { name: 'shell', input: { command: line } } };
}

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
    output: [command('i=0; while [ $i -lt 40 ]; do i=$((i+1)); echo "line $i"; sleep 0.01; done; printf end')],
    // Commands of the shell: what they write is seen in the call and in its terminal.
    started: [command('echo STARTED | tee started.txt; sleep 60')],
    half: [command("printf 'half a line'; sleep 60")],
    // Outlives the terminal of a host that was killed.
    stubborn: [command("trap '' HUP; echo STUBBORN; sleep 61")],
    client: [{ callTool: { name: 'lookup', input: { word: 'fox' } } }],
    work: [
      {
        worker: {
          title: 'Count',
          prompt: 'How many are there?',
          steps: [{ text: SENTENCE, chunk: 8, everyMs: 3 }, command('printf three'), { text: 'There are three.' }],
        },
      },
      { text: 'The worker says: ${lastResult}' },
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
  'output',
  'output',
  'work',
  'work',
  'ask',
  'fail',
] as const;
