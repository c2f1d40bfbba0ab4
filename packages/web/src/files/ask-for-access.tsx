/** Asks the people in the session, who may be the same person, for a file outside of its folder. */
import { useEffect, useState } from 'react';
import { useHost, useOpenSession } from '../host/context.js';
import { problemText } from '../host/problem.js';
import { expectQuestion } from '../questions/expected.js';
import { tell } from '../ui/notices.js';

interface Props {
  readonly uri: string;
  /** It is worth another look. */
  readonly onAnswered: () => void;
}

export function AskForAccess({ uri, onAnswered }: Props) {
  const { client } = useHost();
  const session = useOpenSession();
  const [isAsking, setAsking] = useState(false);
  useEffect(() => {
    if (!isAsking) return;
    let count = 0;
    return session.view.subscribe(() => {
      const { length } = session.state.inputRequests ?? [];
      if (length < count) onAnswered();
      count = length;
    });
  }, [session, isAsking, onAnswered]);
  const ask = async () => {
    setAsking(true);
    expectQuestion();
    try {
      await client.request('resourceRequest', { uri, read: true });
      onAnswered();
    } catch (error) {
      // The question stands longer than a request waits for its answer.
      if (error instanceof Error && error.name === 'RequestTimeoutError') return;
      setAsking(false);
      tell(problemText(error));
    }
  };
  return (
    <div className="files-note">
      <button type="button" className="small" disabled={isAsking} onClick={() => void ask()}>
        {isAsking ? 'The question is in the session' : 'Ask to see it'}
      </button>
    </div>
  );
}
