/** `ask_user`: a question to the person, with or without answers to choose from. */
import type { SessionInputAnswer, SessionInputQuestion } from '@atrium/protocol';
import type { InputOutcome } from '../../core/contracts/agent.js';
import { shorten } from '../../core/util/text.js';
import { hostTool, succeeded, ToolFailure } from './host-tool.js';

export const ASK_MAX_OPTIONS = 20;

const QUESTION_ID = 'answer';

export const askUserTool = hostTool({
  name: 'ask_user',
  displayName: 'Ask',
  description:
    'Asks the person a question and waits for the answer. For decisions that only they can make. ' +
    `Offer up to ${ASK_MAX_OPTIONS} answers in "options" where you can; they may still answer in their own words.`,
  annotations: { readOnlyHint: true, openWorldHint: false },
  properties: {
    question: { type: 'string', minLength: 1, description: 'The question.' },
    options: { type: 'array', items: { type: 'string', minLength: 1 }, description: 'Answers to choose from.' },
    several: { type: 'boolean', description: 'Whether more than one option may be chosen. Default: false.' },
  },
  required: ['question'],
  invocation: ({ question }) => `Ask "${shorten(question, 80)}"`,
  async run({ question, options = [], several = false }, { ask }) {
    if (!ask) throw new ToolFailure('NOBODY', 'There is nobody to ask here. Decide by yourself.');
    if (options.length > ASK_MAX_OPTIONS) {
      throw new ToolFailure('BAD_INPUT', `There are more than ${ASK_MAX_OPTIONS} options.`);
    }
    const questions = [questionOf(question, options, several)];
    const outcome = await ask({ id: `ask-${crypto.randomUUID()}`, message: question, questions });
    return succeeded(`Asked "${shorten(question, 80)}"`, answerText(outcome, options));
  },
});

function questionOf(message: string, options: readonly string[], several: boolean): SessionInputQuestion {
  const base = { id: QUESTION_ID, message, required: true };
  if (options.length === 0) return { ...base, kind: 'text' };
  const choices = options.map((label, index) => ({ id: String(index + 1), label }));
  return { ...base, kind: several ? 'multi-select' : 'single-select', options: choices, allowFreeformInput: true };
}

function answerText({ response, answers }: InputOutcome, options: readonly string[]): string {
  if (response !== 'accept') throw new ToolFailure(response, 'The person did not want to answer. Go on without.');
  const texts = textsOf(answers[QUESTION_ID], options).filter((text) => text !== '');
  if (texts.length === 0) throw new ToolFailure('NO_ANSWER', 'The person gave no answer. Go on without.');
  return texts.join('\n');
}

function textsOf(answer: SessionInputAnswer | undefined, options: readonly string[]): string[] {
  if (!answer) return [];
  if (answer.state === 'skipped') return answer.freeformValues ?? [];
  const { value } = answer;
  if (value.kind === 'selected' || value.kind === 'selected-many') {
    const chosen = value.kind === 'selected' ? [value.value] : value.value;
    return [...chosen.map((id) => options[Number(id) - 1] ?? id), ...(value.freeformValues ?? [])];
  }
  return [String(value.value)];
}
