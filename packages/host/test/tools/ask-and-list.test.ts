import type { InputOutcome } from '@atrium/core/contracts/agent.js';
import { ASK_MAX_OPTIONS } from '@atrium/core/contracts/ask-question.js';
import type { SessionInputAnswer, SessionInputRequest } from '@atrium/protocol';
import { describe, expect, it } from 'vitest';
import { askUserTool } from '../../src/workspace/tools/ask-user.js';
import { TODO_MAX_ITEMS, todoListTool } from '../../src/workspace/tools/todo-list.js';
import { use } from './tool-box.js';

describe('todo_list', () => {
  const list = (input: unknown, before: unknown[] = []) =>
    use(todoListTool, input, undefined, undefined, { earlier: () => before });

  it('shows the list as it was given', async () => {
    const { text, output } = await list({ items: ['[x] sweep', '[>] wash', 'dry', '- [ ] iron', '[X]fold'] });
    expect(text).toBe('- [x] sweep\n- [>] wash\n- [ ] dry\n- [ ] iron\n- [x] fold');
    expect(output.pastTenseMessage).toBe('Updated the to-do list (2 of 5 items done)');
  });

  it('gives back the list that was set last', async () => {
    const { text } = await list({}, [{}, { items: ['newest'] }, { items: ['older'] }]);
    expect(text).toBe('- [ ] newest');
    expect((await list({})).text).toBe('The list is empty.');
    expect((await list({ items: [] }, [{ items: ['older'] }])).text).toBe('The list is empty.');
  });

  it('is not endless', async () => {
    expect((await list({ items: Array(TODO_MAX_ITEMS).fill('x') })).output.success).toBe(true);
    expect((await list({ items: Array(TODO_MAX_ITEMS + 1).fill('x') })).output.error?.code).toBe('BAD_INPUT');
    expect((await list({ items: [1] })).text).toContain('"items.0" of todo_list must be a string');
  });
});

describe('ask_user', () => {
  const asked: SessionInputRequest[] = [];
  const ask = (input: unknown, outcome: InputOutcome) =>
    use(askUserTool, input, undefined, undefined, {
      ask: async (request) => {
        asked.push(request);
        return outcome;
      },
    });
  const accept = (answer: SessionInputAnswer): InputOutcome => ({ response: 'accept', answers: { answer } });
  const submitted = (value: Extract<SessionInputAnswer, { value: unknown }>['value']): InputOutcome =>
    accept({ state: 'submitted', value });

  it('asks for text, and gives back what was written', async () => {
    const { text } = await ask({ question: 'Name?' }, submitted({ kind: 'text', value: 'Importer' }));
    expect(text).toBe('Importer');
    expect(asked.at(-1)).toMatchObject({ message: 'Name?', questions: [{ kind: 'text', required: true }] });
  });

  it('offers answers, and gives back the words of those chosen', async () => {
    const options = ['red', 'blue'];
    const one = await ask({ question: 'Which?', options }, submitted({ kind: 'selected', value: '2' }));
    expect(one.text).toBe('blue');
    expect(asked.at(-1)?.questions).toMatchObject([
      { kind: 'single-select', allowFreeformInput: true, options: [{ label: 'red' }, { label: 'blue' }] },
    ]);
    const many = submitted({ kind: 'selected-many', value: ['1', '2'], freeformValues: ['green'] });
    expect((await ask({ question: 'Which?', options, several: true }, many)).text).toBe('red\nblue\ngreen');
    expect(asked.at(-1)?.questions?.[0]?.kind).toBe('multi-select');
  });

  it('tells the agent to go on when there is no answer', async () => {
    for (const response of ['decline', 'cancel'] as const) {
      const { output } = await ask({ question: 'Name?' }, { response, answers: {} });
      expect(output).toMatchObject({ success: false, error: { code: response } });
    }
    expect((await ask({ question: 'Name?' }, accept({ state: 'skipped' }))).output.error?.code).toBe('NO_ANSWER');
    expect((await use(askUserTool, { question: 'Name?' }, undefined)).output.error?.code).toBe('NOBODY');
  });

  it('does not offer too much', async () => {
    const options = (length: number) => Array.from({ length }, String);
    const outcome = submitted({ kind: 'selected', value: '1' });
    expect((await ask({ question: '?', options: options(ASK_MAX_OPTIONS) }, outcome)).output.success).toBe(true);
    const more = await ask({ question: '?', options: options(ASK_MAX_OPTIONS + 1) }, outcome);
    expect(more.output.error?.code).toBe('BAD_INPUT');
  });
});
