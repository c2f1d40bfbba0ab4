/** Opens a session while a component shows it. */
import { useEffect, useState } from 'react';
import { tell } from '../ui/notices.js';
import { useHost } from './context.js';
import { OpenSession } from './open-session.js';
import { problemText } from './problem.js';

export type Opening =
  | { readonly at: 'loading' }
  | { readonly at: 'failed'; readonly why: string }
  | { readonly at: 'open'; readonly session: OpenSession };

export function useSession(uri: string): Opening {
  const { client } = useHost();
  const [opening, setOpening] = useState<Opening>({ at: 'loading' });
  useEffect(() => {
    let isOver = false;
    let opened: OpenSession | undefined;
    setOpening({ at: 'loading' });
    OpenSession.open(client, uri, tell).then(
      (session) => {
        if (isOver) return session.close();
        opened = session;
        setOpening({ at: 'open', session });
      },
      (error) => isOver || setOpening({ at: 'failed', why: problemText(error) }),
    );
    return () => {
      isOver = true;
      opened?.close();
    };
  }, [client, uri]);
  return opening;
}
