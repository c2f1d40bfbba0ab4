/** `ask_user`: asks the person a question, with or without answers to choose from. */

import { ASK_MAX_OPTIONS, askQuestion } from '@atrium/core/contracts/ask-question.js';
import { ToolFailure } from '@atrium/core/contracts/tool.js';
import { shorten } from '@atrium/core/util/text.js';
import { hostTool, succeeded } from './host-tool.js';

export const askUserTool = hostTool({
  name: 'ask_user',
  displayName: 'Ask',
  description:
    'Asks the person a question and waits for the answer. Use it for decisions that only they can make. ' +
    `Offer up to ${ASK_MAX_OPTIONS} answers in "options" where you can; the person may still answer in their own words.`,
  annotations: { readOnlyHint: true, openWorldHint: false },
  properties: {
    question: { type: 'string', minLength: 1, description: 'The question.' },
    options: { type: 'array', items: { type: 'string', minLength: 1 }, description: 'Answers to choose from.' },
    several: { type: 'boolean', description: 'Lets the person choose more than one option. Default: false.' },
  },
  required: ['question'],
  invocation: ({ question }) => `Ask "${shorten(question, 80)}"`,
  async run({ question, options = [], several = false }, { ask }) {
    if (!ask) throw new ToolFailure('NOBODY', 'No person can be asked here. Decide by yourself.');
    return succeeded(`Asked "${shorten(question, 80)}"`, await askQuestion(ask, { question, options, several }));
  },
});
