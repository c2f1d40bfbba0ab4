/** An answered question in the conversation, with its answer. */
import type {
  ChatInputAnswer,
  ChatInputQuestion,
  ChatInputRequest,
  InputRequestResponsePart,
} from '@atrium/protocol/ahp-1';
import { VisibleText } from '../ui/visible-text.js';

const ENDS: Readonly<Record<string, string>> = { accept: 'Agreed', decline: 'Declined', cancel: 'Withdrawn' };

export function AnsweredQuestion({ part }: { readonly part: InputRequestResponsePart }) {
  const { request, response } = part;
  const { questions = [], message } = request;
  const end = response === undefined ? 'Not answered' : (ENDS[response] ?? response);
  const answers =
    response === 'accept' ? questions.map((question) => [question, wordsOf(question, request)] as const) : [];
  const isTold = answers.length > 0;
  return (
    <section className="note answered" aria-label="Question">
      {message && !questions.some((question) => question.message === message) && (
        <p>
          <VisibleText text={message} mode="lines" />
        </p>
      )}
      {isTold ? (
        answers.map(([question, words]) => (
          <p key={question.id}>
            <VisibleText text={question.message} mode="lines" /> <b>{words}</b>
          </p>
        ))
      ) : (
        <p>
          {questions.map(({ message: asked }) => asked).join(' ')} <b>{end}</b>
        </p>
      )}
    </section>
  );
}

function wordsOf(question: ChatInputQuestion, { answers }: ChatInputRequest): string {
  const answer: ChatInputAnswer | undefined = answers?.[question.id];
  if (!answer || !('value' in answer)) return 'Skipped';
  const { value } = answer;
  if (value.kind === 'boolean') return value.value ? 'Yes' : 'No';
  if (value.kind === 'text' || value.kind === 'number') return String(value.value);
  const chosen = value.kind === 'selected' ? [value.value] : value.value;
  const labels = chosen.filter(Boolean).map((id) => labelOf(question, id));
  return [...labels, ...(value.freeformValues ?? [])].join(', ');
}

function labelOf(question: ChatInputQuestion, id: string): string {
  const options = 'options' in question ? question.options : [];
  return options.find((option) => option.id === id)?.label ?? id;
}
