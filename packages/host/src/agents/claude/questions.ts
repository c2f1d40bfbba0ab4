/** Claude's tool to ask a person: its questions are put as the host's own are, and the answers go back in its shape. */
import type { SessionInputAnswer, SessionInputQuestion } from '@atrium/protocol';
import type { AgentTurn } from '../../core/contracts/agent.js';
import { isRecord } from '../../core/util/shape.js';
import type { PermissionResult } from './sdk.js';

export const ASK_TOOL = 'AskUserQuestion';

interface Question {
  readonly text: string;
  readonly title: string | undefined;
  readonly options: readonly Option[];
  readonly several: boolean;
}

interface Option {
  readonly label: string;
  readonly description: string | undefined;
}

export async function askPerson(turn: AgentTurn, input: Record<string, unknown>): Promise<PermissionResult> {
  const questions = questionsIn(input);
  const message = questions.map(({ text }) => text).join('\n');
  const request = { id: `ask-${crypto.randomUUID()}`, message, questions: questions.map(requested) };
  const { response, answers } = await turn.ask(request);
  if (response !== 'accept') return { behavior: 'deny', message: 'The person did not want to answer. Go on without.' };
  const given = questions.map(({ text }, index) => [text, textOf(answers[String(index)])]);
  return { behavior: 'allow', updatedInput: { ...input, answers: Object.fromEntries(given) } };
}

/** Claude has checked its input against its own schema before it asks. */
function questionsIn({ questions }: Record<string, unknown>): Question[] {
  return (Array.isArray(questions) ? questions : []).filter(isRecord).map((question) => ({
    text: String(question.question),
    title: typeof question.header === 'string' ? question.header : undefined,
    options: (Array.isArray(question.options) ? question.options : []).filter(isRecord).map((option) => ({
      label: String(option.label),
      description: typeof option.description === 'string' ? option.description : undefined,
    })),
    several: question.multiSelect === true,
  }));
}

/** The label is the id as well: it is what Claude wants to have back. */
function requested({ text, title, options, several }: Question, index: number): SessionInputQuestion {
  return {
    id: String(index),
    message: text,
    ...(title !== undefined && { title }),
    kind: several ? 'multi-select' : 'single-select',
    options: options.map(({ label, description }) => ({ id: label, label, ...(description && { description }) })),
    allowFreeformInput: true,
    required: true,
  };
}

function textOf(answer: SessionInputAnswer | undefined): string {
  if (!answer) return '';
  if (answer.state === 'skipped') return (answer.freeformValues ?? []).join(', ');
  const { value } = answer;
  if (value.kind === 'selected') return [value.value, ...(value.freeformValues ?? [])].filter(Boolean).join(', ');
  if (value.kind === 'selected-many') return [...value.value, ...(value.freeformValues ?? [])].join(', ');
  return String(value.value);
}
