/** Everything that waits for an answer outside of tool calls, above the place where people write. */
import type { SessionInputAnswer, SessionInputRequest } from '@atrium/protocol';
import { type FormEvent, useEffect, useRef, useState } from 'react';
import { useOpenSession } from '../host/context.js';
import { uncover } from '../ui/panel-state.js';
import { VisibleText } from '../ui/visible-text.js';
import { draftOf, isAnswered, submitted } from './answers.js';
import { expectedQuestion } from './expected.js';
import { QuestionField } from './question-field.js';
import { Trust } from './trust.js';

export function Questions({ requests = [] }: { readonly requests: readonly SessionInputRequest[] | undefined }) {
  if (requests.length === 0) return null;
  return (
    <div className="asks">
      {requests.map((request) => (
        <Question key={request.id} request={request} />
      ))}
    </div>
  );
}

function Question({ request }: { readonly request: SessionInputRequest }) {
  if (request.id.startsWith('trust-')) return <Trust request={request} />;
  return <QuestionForm request={request} />;
}

const WEB = /^https?:\/\//i;

/** Questions of the agent. Drafts go to every client as they are written, so that another device can finish them. */
function QuestionForm({ request }: { readonly request: SessionInputRequest }) {
  const session = useOpenSession();
  const form = useRef<HTMLFormElement>(null);
  const [missing, setMissing] = useState<string>();
  const { id: requestId, questions = [], message, url } = request;
  // A request that asks one thing often says it twice.
  const isAskedBelow = questions.some((question) => question.message.trim() === message?.trim());
  // What was typed a moment ago is in the session already, and on the screen only with the next frame.
  const latest = () => session.state.inputRequests?.find(({ id }) => id === requestId) ?? request;
  const change = (questionId: string, answer: SessionInputAnswer | undefined) =>
    session.dispatch({ type: 'session/inputAnswerChanged', requestId, questionId, ...(answer && { answer }) });
  const end = (response: 'accept' | 'decline') => {
    const answers = response === 'accept' ? submitted(latest()) : undefined;
    session.dispatch({ type: 'session/inputCompleted', requestId, response, ...(answers && { answers }) });
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    // The field that has the focus may hold words that were not sent yet; leaving it sends them.
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
          answer={draftOf(request, question)}
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
