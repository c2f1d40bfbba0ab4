/** Asks a person one question, with or without options, and returns the answer as text. */
import type { ChatInputAnswer, ChatInputQuestion, ChatInputRequest } from '@atrium/protocol/ahp-1';
import type { InputOutcome } from './agent.js';
import { ToolFailure } from './tool.js';

export const ASK_MAX_OPTIONS = 20;

const QUESTION_ID = 'answer';

export interface ChoiceQuestion {
  readonly question: string;
  /** The person may always answer in their own words instead. */
  readonly options: readonly string[];
  /** The person may choose more than one option. */
  readonly several?: boolean;
}

type Ask = (request: ChatInputRequest) => Promise<InputOutcome>;

/** Asks. Throws a `ToolFailure` when the person does not answer. */
export async function askQuestion(ask: Ask, { question, options, several = false }: ChoiceQuestion): Promise<string> {
  if (options.length > ASK_MAX_OPTIONS) {
    throw new ToolFailure('BAD_INPUT', `There are more than ${ASK_MAX_OPTIONS} options.`);
  }
  const questions = [questionOf(question, options, several)];
  const outcome = await ask({ id: `ask-${crypto.randomUUID()}`, message: question, questions });
  return answerText(outcome, options);
}

function questionOf(message: string, options: readonly string[], several: boolean): ChatInputQuestion {
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

function textsOf(answer: ChatInputAnswer | undefined, options: readonly string[]): string[] {
  if (!answer) return [];
  if (answer.state === 'skipped') return answer.freeformValues ?? [];
  const { value } = answer;
  if (value.kind === 'selected' || value.kind === 'selected-many') {
    const chosen = value.kind === 'selected' ? [value.value] : value.value;
    return [...chosen.map((id) => options[Number(id) - 1] ?? id), ...(value.freeformValues ?? [])];
  }
  return [String(value.value)];
}
