/** Opens something of the host while a component shows it: a session, a terminal. */
import type { Client } from '@atrium/client';
import { useEffect, useRef, useState } from 'react';
import { tell } from '../ui/notices.js';
import { useHost } from './context.js';
import { problemText } from './problem.js';

type Opening<Thing> =
  | { readonly at: 'loading' }
  | { readonly at: 'failed'; readonly why: string }
  | { readonly at: 'open'; readonly thing: Thing };

type Open<Thing> = (client: Client, uri: string, onProblem: (text: string) => void, part?: string) => Promise<Thing>;

/**
 * `open` must be the same function every time. `part` names a part of the thing: the old part stays on the screen until
 * the new
 * one has arrived.
 */
export function useOpened<Thing extends { close(): void }>(
  open: Open<Thing>,
  uri: string,
  part?: string,
): Opening<Thing> {
  const { client } = useHost();
  const [opening, setOpening] = useState<Opening<Thing>>({ at: 'loading' });
  const shown = useRef<string>(undefined);
  useEffect(() => {
    let isOver = false;
    let opened: Thing | undefined;
    if (shown.current !== uri) setOpening({ at: 'loading' });
    shown.current = uri;
    open(client, uri, tell, part).then(
      (thing) => {
        if (isOver) return thing.close();
        opened = thing;
        setOpening({ at: 'open', thing });
      },
      (error) => isOver || setOpening({ at: 'failed', why: problemText(error) }),
    );
    return () => {
      isOver = true;
      opened?.close();
    };
  }, [client, open, uri, part]);
  return opening;
}
