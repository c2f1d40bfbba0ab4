/** The open questions, except those of tool calls, above the message field. */
import type { ChatInputAnswer, ChatInputRequest } from '@atrium/protocol/ahp-1';
import { type FormEvent, useEffect, useReducer, useRef, useState } from 'react';
import { useOpenSession } from '../host/context.js';
import type { OpenSession } from '../host/open-session.js';
import { uncover } from '../ui/panel-state.js';
import { VisibleText } from '../ui/visible-text.js';
import { draftOf, isAnswered, submitted } from './answers.js';
import { expectedQuestion } from './expected.js';
import { type OpenQuestion, openQuestions } from './open-questions.js';
import { QuestionField } from './question-field.js';
import { Trust } from './trust.js';

export function Questions({ questions }: { readonly questions: readonly OpenQuestion[] }) {
  if (questions.length === 0) return null;
  return (
    <div className="asks">
      {questions.map((question) => (
        <Question key={question.request.id} question={question} />
      ))}
    </div>
  );
}

function Question({ question }: { readonly question: OpenQuestion }) {
  if (question.request.id.startsWith('trust-')) return <Trust question={question} />;
  return <QuestionForm question={question} />;
}

const WEB = /^https?:\/\//i;

/**
 * Questions of the agent. Drafts go to every client while the person writes, so that another device can finish them.
 */
function QuestionForm({ question: { request, chat } }: { readonly question: OpenQuestion }) {
  const session = useOpenSession();
  const form = useRef<HTMLFormElement>(null);
  const [missing, setMissing] = useState<string>();
  const { id: requestId, questions = [], message, url } = request;
  // A request with one question often has the same text twice.
  const isAskedBelow = questions.some((question) => question.message.trim() === message?.trim());
  const { latest, changed } = useOwnAnswers(session, request);
  const change = (questionId: string, answer: ChatInputAnswer | undefined) => {
    changed(questionId, answer);
    session.dispatchTo(chat, { type: 'chat/inputAnswerChanged', requestId, questionId, ...(answer && { answer }) });
  };
  const end = (response: 'accept' | 'decline') => {
    const answers = response === 'accept' ? submitted(latest()) : undefined;
    session.dispatchTo(chat, { type: 'chat/inputCompleted', requestId, response, ...(answers && { answers }) });
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    // The focused field may hold unsent words; leaving it sends them.
    if (document.activeElement instanceof HTMLElement) document.activeElement.blur();
    const open = questions.find((question) => question.required && !isAnswered(draftOf(latest(), question)));
    setMissing(open?.id);
    if (!open) end('accept');
  };
  useEffect(() => {
    const expected = expectedQuestion(session, requestId);
    if (!expected) return;
    uncover();
    if (expected.takesFocus) form.current?.querySelector<HTMLElement>('input, button')?.focus();
  }, [session, requestId]);
  return (
    <form ref={form} className="ask" aria-label="Question" onSubmit={submit} noValidate>
      {message && !isAskedBelow && (
        <p className="question">
          <VisibleText text={message} mode="lines" />
        </p>
      )}
      {url && WEB.test(url) && (
        <p>
          <a href={url} target="_blank" rel="noopener noreferrer">
            <VisibleText text={url} />
          </a>
        </p>
      )}
      {questions.map((question) => (
        <QuestionField
          key={question.id}
          question={question}
          answer={draftOf(latest(), question)}
          isMissing={missing === question.id}
          onChange={(answer) => change(question.id, answer)}
        />
      ))}
      <div className="buttons sticky">
        <button type="submit" className="primary">
          {questions.length > 0 ? 'Answer' : 'Agree'}
        </button>
        <button type="button" onClick={() => end('decline')}>
          Decline
        </button>
      </div>
    </form>
  );
}

interface OwnAnswers {
  /** The request with the latest answers from here. */
  latest(): ChatInputRequest;
  changed(questionId: string, answer: ChatInputAnswer | undefined): void;
}

/**
 * The current answers. Answers to a question of a turn are in the chat at once. Answers to a question outside turns
 * come back from
 * the host; until then this remembers them.
 */
function useOwnAnswers(session: OpenSession, request: ChatInputRequest): OwnAnswers {
  const [, redraw] = useReducer((count: number) => count + 1, 0);
  const own = useRef<Readonly<Record<string, ChatInputAnswer | undefined>>>({});
  // biome-ignore lint/correctness/useExhaustiveDependencies: another request is the answer of the host
  useEffect(() => {
    own.current = {};
  }, [request]);
  const latest = () => {
    const open = openQuestions(session.state, session.chat).find((each) => each.request.id === request.id);
    const now = open?.request ?? request;
    const answers = Object.entries({ ...now.answers, ...own.current }).flatMap(([id, answer]) =>
      answer ? [[id, answer] as const] : [],
    );
    return { ...now, answers: Object.fromEntries(answers) };
  };
  const changed = (questionId: string, answer: ChatInputAnswer | undefined) => {
    own.current = { ...own.current, [questionId]: answer };
    redraw();
  };
  return { latest, changed };
}
