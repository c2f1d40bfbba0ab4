/** One question of a form: what may be answered, and the answer as the protocol writes it. */
import type { SessionInputAnswer, SessionInputOption, SessionInputQuestion } from '@atrium/protocol';

/** What the person did so far. */
export interface AnswerValue {
  readonly text: string;
  readonly option: string | undefined;
  readonly ticked: readonly string[];
  /** What is not among the choices, where that is allowed. */
  readonly own: string;
}

const YES_NO: readonly SessionInputOption[] = [
  { id: 'yes', label: 'Yes' },
  { id: 'no', label: 'No' },
];

/** Whether the answer is written rather than chosen. */
export function isWritten({ kind }: SessionInputQuestion): boolean {
  return kind === 'text' || kind === 'number' || kind === 'integer';
}

/** Whether something else than the choices may be written. */
export function allowsOwn(question: SessionInputQuestion): boolean {
  return 'allowFreeformInput' in question && question.allowFreeformInput === true;
}

export function optionsOf(question: SessionInputQuestion): readonly SessionInputOption[] {
  if (question.kind === 'boolean')
    return YES_NO.map((option) => ({
      ...option,
      recommended: (option.id === 'yes') === (question.defaultValue ?? true),
    }));
  return 'options' in question ? question.options : [];
}

export function defaultText(question: SessionInputQuestion): string {
  return isWritten(question) && 'defaultValue' in question ? String(question.defaultValue ?? '') : '';
}

/** Why this cannot be the answer yet, in words; undefined when it can. */
export function problemWith(question: SessionInputQuestion, value: AnswerValue): string | undefined {
  const { text, ticked, option, own } = value;
  const { required } = question;
  if (question.kind === 'multi-select') {
    const { min = required ? 1 : 0, max = Number.POSITIVE_INFINITY } = question;
    const count = ticked.length + (own === '' ? 0 : 1);
    if (count < min) return `Tick at least ${min}.`;
    return count > max ? `Tick at most ${max}.` : undefined;
  }
  if (!isWritten(question)) return required && option === undefined && own === '' ? 'An answer is needed.' : undefined;
  if (text.trim() === '') return required ? 'An answer is needed.' : undefined;
  return question.kind === 'text' ? undefined : numberProblem(question, Number(text));
}

function numberProblem(question: SessionInputQuestion, value: number): string | undefined {
  if (question.kind !== 'number' && question.kind !== 'integer') return undefined;
  if (!Number.isFinite(value)) return 'Write a number.';
  if (question.kind === 'integer' && !Number.isInteger(value)) return 'Write a whole number.';
  if (question.min !== undefined && value < question.min) return `At least ${question.min}.`;
  return question.max !== undefined && value > question.max ? `At most ${question.max}.` : undefined;
}

/** What is left empty is skipped. */
export function answerOf(question: SessionInputQuestion, value: AnswerValue): SessionInputAnswer {
  const { text, option, ticked, own } = value;
  const freeform = own === '' ? {} : { freeformValues: [own] };
  switch (question.kind) {
    case 'multi-select':
      return { state: 'submitted', value: { kind: 'selected-many', value: [...ticked], ...freeform } };
    case 'single-select':
      return option === undefined && own === ''
        ? { state: 'skipped' }
        : { state: 'submitted', value: { kind: 'selected', value: option ?? '', ...freeform } };
    case 'boolean':
      return { state: 'submitted', value: { kind: 'boolean', value: option === 'yes' } };
    case 'text':
      return text.trim() === '' ? { state: 'skipped' } : { state: 'submitted', value: { kind: 'text', value: text } };
    default:
      return text.trim() === ''
        ? { state: 'skipped' }
        : { state: 'submitted', value: { kind: 'number', value: Number(text) } };
  }
}

/** The answer as the person would say it. */
export function answerWords(question: SessionInputQuestion, { text, option, ticked, own }: AnswerValue): string {
  if (isWritten(question)) return text.trim();
  const chosen = question.kind === 'multi-select' ? ticked : [option];
  const labels = optionsOf(question).flatMap(({ id, label }) => (chosen.includes(id) ? [label] : []));
  return [...labels, ...(own === '' ? [] : [own])].join(', ');
}
