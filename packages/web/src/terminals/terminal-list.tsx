/** All terminals by name: who has them, and which have ended. */
import type { TerminalInfo } from '@atrium/protocol';
import { useEffect, useRef } from 'react';
import { useHost, useOpenSession } from '../host/context.js';
import { distinct } from '../model/format.js';
import { isOfCall, ownerWords } from './claims.js';
import { chooseTerminal } from './shown-terminal.js';

interface Props {
  readonly all: readonly TerminalInfo[];
  readonly shown: TerminalInfo | undefined;
}

export function TerminalList({ all, shown }: Props) {
  const { client } = useHost();
  const session = useOpenSession();
  const list = useRef<HTMLUListElement>(null);
  const names = distinct(all.map(({ title }) => title));
  const chosen = shown?.resource;
  // biome-ignore lint/correctness/useExhaustiveDependencies: another choice is a reason to look for it
  useEffect(() => {
    list.current?.querySelector('[aria-pressed=true]')?.scrollIntoView({ block: 'nearest', inline: 'nearest' });
  }, [chosen]);
  return (
    <ul ref={list} className="terminal-list" aria-label="Terminals">
      {all.map((terminal, index) => {
        const { resource, claim } = terminal;
        const title = names[index] ?? '';
        const hasExited = 'exitCode' in terminal;
        return (
          <li key={resource}>
            <button
              type="button"
              className="quiet small"
              aria-pressed={resource === chosen}
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
