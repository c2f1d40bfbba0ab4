/** Answers to questions: drafts while the person writes, submitted when they send. */
import type {
  ChatInputAnswer,
  ChatInputAnswerValue,
  ChatInputQuestion,
  ChatInputRequest,
} from '@atrium/protocol/ahp-1';

/** The draft, whichever client wrote it; else the question's default. */
export function draftOf({ answers }: ChatInputRequest, question: ChatInputQuestion): ChatInputAnswerValue | undefined {
  const answer = answers?.[question.id];
  if (answer && 'value' in answer) return answer.value;
  if (answer || !('defaultValue' in question) || question.defaultValue === undefined) return undefined;
  return answerValue(question.defaultValue);
}

function answerValue(value: string | number | boolean): ChatInputAnswerValue {
  if (typeof value === 'string') return { kind: 'text', value };
  return typeof value === 'number' ? { kind: 'number', value } : { kind: 'boolean', value };
}

export function isAnswered(value: ChatInputAnswerValue | undefined): boolean {
  if (value === undefined) return false;
  const { freeformValues = [] } = 'freeformValues' in value ? value : {};
  return freeformValues.length > 0 || (value.value !== '' && !(Array.isArray(value.value) && value.value.length === 0));
}

export function draft(value: ChatInputAnswerValue): ChatInputAnswer {
  return { state: 'draft', value };
}

/** All answers in their final form; questions without an answer are skipped. */
export function submitted(request: ChatInputRequest): Record<string, ChatInputAnswer> {
  const answers = (request.questions ?? []).map((question): [string, ChatInputAnswer] => {
    const value = draftOf(request, question);
    return [question.id, value === undefined ? { state: 'skipped' } : { state: 'submitted', value }];
  });
  return Object.fromEntries(answers);
}
