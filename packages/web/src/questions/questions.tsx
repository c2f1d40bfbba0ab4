/** Everything that waits for an answer outside of tool calls, above the place where people write. */
import type { SessionInputRequest } from '@atrium/protocol';
import { QuestionForm } from './question-form.js';
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
