/** All terminals by name: who has them, and which have ended. */
import type { TerminalInfo } from '@atrium/protocol';
import { useHost, useOpenSession } from '../host/context.js';
import { isOfCall, ownerWords } from './claims.js';
import { chooseTerminal } from './shown-terminal.js';

interface Props {
  readonly all: readonly TerminalInfo[];
  readonly shown: TerminalInfo | undefined;
}

export function TerminalList({ all, shown }: Props) {
  const { client } = useHost();
  const session = useOpenSession();
  return (
    <ul className="terminal-list" aria-label="Terminals">
      {all.map((terminal) => {
        const { resource, title, claim } = terminal;
        const hasExited = 'exitCode' in terminal;
        return (
          <li key={resource}>
            <button
              type="button"
              className="quiet small"
              aria-pressed={resource === shown?.resource}
              title={`${title}: ${ownerWords(claim, client.clientId, session.uri)}`}
              onClick={() => chooseTerminal(resource)}
            >
              {!hasExited && isOfCall(claim) && <span className="dot working" />}
              <span className="name">{title}</span>
              {hasExited && <span className="hint">ended</span>}
            </button>
          </li>
        );
      })}
    </ul>
  );
}
