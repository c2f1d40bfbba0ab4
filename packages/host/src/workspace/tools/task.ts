/**
 * `task`: gives a piece of work to a worker, an agent of the same kind with its own context, and waits for the answer.
 */

import type { WorkerOutcome } from '@atrium/core/contracts/agent.js';
import { ToolFailure, type ToolOutput } from '@atrium/core/contracts/tool.js';
import { shorten } from '@atrium/core/util/text.js';
import type { ToolResultContent } from '@atrium/protocol/ahp-1';
import { hostTool } from './host-tool.js';

const TITLE_CHARACTERS = 80;

export const taskTool = {
  ...hostTool({
    name: 'task',
    displayName: 'Task',
    description:
      'Gives a task to a worker and waits for its answer. A worker is an agent like you, but knows nothing of this ' +
      'conversation. Use it for work that takes much reading and has a short answer, and call it several times in one step ' +
      'to work on independent pieces in parallel. Tell the worker everything it needs to know, and what to answer.',
    // Read-only itself: the host asks about, and records, each call of the worker.
    annotations: { readOnlyHint: true, openWorldHint: false },
    properties: {
      title: { type: 'string', minLength: 1, description: 'What the worker does, in three to six words.' },
      prompt: { type: 'string', minLength: 1, description: 'The whole task.' },
      tools: {
        type: 'array',
        items: { type: 'string', minLength: 1 },
        description: 'Names of the tools that the worker may use. Default: all of yours.',
      },
    },
    required: ['title', 'prompt'],
    invocation: ({ title }) => `Give a task: ${shorten(title, TITLE_CHARACTERS)}`,
    async run({ title, prompt, tools }, { openWorker, progress }) {
      if (!openWorker) throw new ToolFailure('NOBODY', 'There are no workers here. Do it yourself.');
      const worker = openWorker({ title, prompt, ...(tools && { tools }) });
      const shown = { type: 'subagent' as const, resource: worker.chat, title };
      progress([shown]);
      return outputOf(title, shown, await worker.ended);
    },
  }),
  startsWorkers: true,
};

function outputOf(title: string, shown: ToolResultContent, { state, text, error }: WorkerOutcome): ToolOutput {
  const success = state === 'complete';
  const why = state === 'error' ? `The worker failed: ${error ?? 'the reason is unknown'}` : 'The worker was stopped.';
  const said = text === '' ? 'The worker said nothing.' : text;
  const answer = success ? said : [why, ...(text === '' ? [] : [`It had said:\n${text}`])].join('\n');
  const name = shorten(title, TITLE_CHARACTERS);
  return {
    success,
    pastTenseMessage: success ? `Did a task: ${name}` : `Did not finish a task: ${name}`,
    content: [shown, { type: 'text', text: answer }],
    ...(!success && { error: { message: why, code: state === 'error' ? 'FAILED' : 'STOPPED' } }),
  };
}
