/** Opens a terminal while a component shows it. */
import { useEffect, useState } from 'react';
import { useHost } from '../host/context.js';
import { problemText } from '../host/problem.js';
import { tell } from '../ui/notices.js';
import { OpenTerminal } from './open-terminal.js';

export type TerminalOpening =
  | { readonly at: 'loading' }
  | { readonly at: 'failed'; readonly why: string }
  | { readonly at: 'open'; readonly terminal: OpenTerminal };

export function useTerminal(uri: string): TerminalOpening {
  const { client } = useHost();
  const [opening, setOpening] = useState<TerminalOpening>({ at: 'loading' });
  useEffect(() => {
    let isOver = false;
    let opened: OpenTerminal | undefined;
    setOpening({ at: 'loading' });
    OpenTerminal.open(client, uri, tell).then(
      (terminal) => {
        if (isOver) return terminal.close();
        opened = terminal;
        setOpening({ at: 'open', terminal });
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
