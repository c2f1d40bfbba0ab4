/** The parts of the Claude agent that need no Claude. */
import type { Turn } from '@atrium/protocol/ahp-1';
import { describe, expect, it } from 'vitest';
import { claudeAgent } from '../../../agents/src/claude/backend.js';
import { resultError } from '../../../agents/src/claude/errors.js';
import { hooksOf } from '../../../agents/src/claude/hooks.js';
import type { Steering } from '../../../agents/src/claude/prompt.js';
import { loadClaudeSdk } from '../../../agents/src/claude/sdk.js';
import {
  beginningOf,
  type ClaudeMemory,
  MARKS_MAX_CHARACTERS,
  memoryOf,
  withMark,
} from '../../../agents/src/claude/session.js';
import type { SubAgents } from '../../../agents/src/claude/sub-agents.js';
import type { TurnCalls } from '../../../agents/src/claude/tools.js';
import { callLabels, resultText } from '../../../agents/src/claude/tools.js';
import { messageOf } from '../support/fake-turn.js';

function turnOf(id: string, text = id): Turn {
  return { id, message: messageOf(text), responseParts: [], usage: undefined, state: 'complete' };
}

const memory: ClaudeMemory = {
  conversation: 'c-1',
  marks: [
    ['t1', 'm1'],
    ['t2', 'm2'],
  ],
};

describe('how a turn of Claude begins', () => {
  it('goes on where Claude is', () => {
    expect(beginningOf(memory, [turnOf('t1'), turnOf('t2')])).toEqual({ kind: 'resume', memory, isCut: false });
  });

  it('goes on there as well when later turns never came to Claude', () => {
    expect(beginningOf(memory, [turnOf('t2'), turnOf('t3')])).toEqual({ kind: 'resume', memory, isCut: false });
  });

  it('goes back to the last turn that is left of a history that was cut', () => {
    const beginning = beginningOf(memory, [turnOf('t1')]);
    expect(beginning).toEqual({ kind: 'resume', memory: { conversation: 'c-1', marks: [['t1', 'm1']] }, isCut: true });
  });

  it.each([
    ['there is no history', memory, []],
    ['nothing is known of the history', memory, [turnOf('t7')]],
    ['nothing was kept', undefined, [turnOf('t1')]],
  ])('begins anew when %s', (_, kept, turns) => {
    const beginning = beginningOf(kept, turns);
    expect(beginning).toMatchObject({ kind: 'new', turns });
    expect(beginning).not.toMatchObject({ conversation: 'c-1' });
  });

  it('keeps the newest marks that fit, one for each turn', () => {
    const many = Array.from({ length: 1_000 }, (_, index) => [`t${index}`, 'm'] as const);
    const { marks } = many.reduce(withMark, { conversation: 'c-1', marks: [] });
    expect([marks.at(-1), marks.length > 100]).toEqual([['t999', 'm'], true]);
    expect(JSON.stringify(marks).length).toBeLessThan(MARKS_MAX_CHARACTERS + 2);
    expect(withMark(memory, ['t2', 'm3']).marks).toEqual([
      ['t1', 'm1'],
      ['t2', 'm3'],
    ]);
  });

  it.each([undefined, 'c-1', { conversation: 1, marks: [] }, { conversation: 'c-1', marks: [['t1']] }])(
    'takes nothing from what it did not write: %j',
    (value) => expect(memoryOf(value)).toBeUndefined(),
  );

  it('takes what it wrote', () => expect(memoryOf(JSON.parse(JSON.stringify(memory)))).toEqual(memory));
});

describe("the words for Claude's calls", () => {
  it.each([
    ['Bash', { command: 'ls\n -l' }, 'Run "ls -l"', 'Ran "ls -l"'],
    ['Read', { file_path: '/home/a/src/b.ts' }, 'Read src/b.ts', 'Read src/b.ts'],
    ['Write', { file_path: '/etc/hosts' }, 'Write /etc/hosts', 'Wrote /etc/hosts'],
    ['WebFetch', { url: 'http://x.test' }, 'Fetch "http://x.test"', 'Fetched "http://x.test"'],
    ['WebFetch', {}, 'Use Web Fetch', 'Used Web Fetch'],
    ['Juggle', { balls: 3 }, 'Use Juggle', 'Used Juggle'],
  ])('say what %s is about: %j', (tool, input, now, done) => {
    expect(callLabels(tool, input, '/home/a')).toEqual({ now, done });
  });

  it.each([
    ['plain', 'plain'],
    [{ stdout: 'out', stderr: 'err' }, 'out\nerr'],
    [{ stdout: 'out', stderr: '' }, 'out'],
    [{ type: 'text', file: { content: 'apples' } }, 'apples'],
    [{ type: 'create', content: 'pears' }, 'pears'],
    [[{ type: 'text', text: 'a' }, { type: 'image' }, { type: 'text', text: 'b' }], 'a\nb'],
    [{ content: [{ type: 'text', text: 'c' }] }, 'c'],
    [{ other: 1 }, '{"other":1}'],
    [undefined, '""'],
  ])('show the readable part of a result: %j', (response, text) => expect(resultText(response)).toBe(text));
});

describe('the failures of Claude', () => {
  const place = { displayName: 'Claude', modelId: 'opus', baseURL: undefined };
  const failed = { type: 'result', is_error: true };

  it.each([
    ['auth', 'authentication_failed', { result: 'Not logged in · Please run /login' }],
    ['auth', undefined, { result: 'no', api_error_status: 401 }],
    ['rate-limited', 'rate_limit', { result: "You've hit your limit" }],
    ['overloaded', 'overloaded', { result: 'busy' }],
    ['model-not-found', 'model_not_found', { result: 'There is an issue with the selected model' }],
    ['context-overflow', 'invalid_request', { result: 'Prompt is too long', api_error_status: 400 }],
    ['network', 'server_error', { result: 'Connection refused (ECONNREFUSED)' }],
    ['other', undefined, { errors: ['it broke'] }],
    ['other', undefined, {}],
  ])('are told apart: %s, from %s', (type, kind, result) => {
    const error = resultError({ ...failed, ...result }, kind, place);
    expect([error.errorType, error.message.length > 20]).toEqual([type, true]);
  });
});

describe('the Claude agent', () => {
  it('[UNI-086] [UNI-098] says what it can do, and offers no sections', () => {
    const { info, abilities, sections } = claudeAgent();
    expect(abilities).toEqual({
      tools: 'next-turn',
      toolIntent: 'all',
      render: 'append',
      steer: true,
      cancelTool: false,
      compacts: true,
      ownTools: true,
    });
    expect([info.provider, info.displayName, sections, info.systemMessageSections]).toEqual([
      'claude',
      'Claude',
      {},
      undefined,
    ]);
    expect(info.models.map(({ id, provider }) => [id, provider])[0]).toEqual(['sonnet', 'claude']);
  });

  it('[UNI-088] has a call stopped when the question about it fails', async () => {
    const calls = { check: () => Promise.reject(new Error('the turn is over')) } as unknown as TurnCalls;
    const agents = { of: async () => calls } as unknown as SubAgents;
    const { PreToolUse = [] } = hooksOf({ agents, steering: {} as Steering, context: '' });
    expect(PreToolUse.map(({ onFailure }) => onFailure)).toEqual(['block']);
    const input = { tool_use_id: 'c-1', tool_name: 'Bash', tool_input: { command: 'rm -rf x' } };
    await expect(PreToolUse[0]?.hooks[0]?.(input)).rejects.toThrow('the turn is over');
  });

  it('says what to install when its package is not there', async () => {
    const loading = loadClaudeSdk('@atrium/no-such-package');
    await expect(loading).rejects.toMatchObject({
      errorType: 'agent-missing',
      message: expect.stringContaining('npm install @atrium/no-such-package'),
    });
  });
});
