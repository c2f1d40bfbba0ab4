/** The terminals of the host: choose one, watch it, type into it. */
import { ErrorCode, type TerminalInfo } from '@atrium/protocol/ahp-1';
import { useEffect, useRef, useState } from 'react';
import { useHost, useOpenSession } from '../host/context.js';
import { newId } from '../host/new-id.js';
import { codeOf, problemText } from '../host/problem.js';
import { distinct } from '../model/format.js';
import { folderOf } from '../model/sessions.js';
import { useStore } from '../model/store.js';
import { Icon } from '../ui/icons.js';
import { tell } from '../ui/notices.js';
import { isOfCall, ownerWords } from './claims.js';
import { chooseTerminal, shownTerminal } from './shown-terminal.js';
import { ShownTerminal } from './terminal-view.js';
import './terminals.css';

export function TerminalPanel() {
  const terminals = useTerminals();
  const { all, shown, isBusy, isMissing, create } = terminals;
  const head = useRef<HTMLElement>(null);
  return (
    <div className="terminal-panel">
      {shown && (
        <header ref={head} className="terminal-head">
          <TerminalList all={all} shown={shown} />
          <button
            type="button"
            className="small"
            aria-label="New terminal"
            disabled={isBusy || isMissing}
            onClick={() => void create()}
          >
            <Icon name="plus" /> New
          </button>
        </header>
      )}
      {shown ? (
        <ShownTerminal
          key={shown.resource}
          uri={shown.resource}
          onDispose={() => void terminals.dispose(shown.resource)}
          onLeave={() => head.current?.querySelector('button')?.focus()}
        />
      ) : isMissing ? (
        <p className="terminal-note hint">This host opens no terminals.</p>
      ) : (
        <div className="empty">
          <p>
            No terminal is open. One that you open here runs on the host, goes on when you close this page, and can be
            watched and used from every device.
          </p>
          <button type="button" className="primary" disabled={isBusy} onClick={() => void create()}>
            <Icon name="terminal" /> New terminal
          </button>
        </div>
      )}
    </div>
  );
}

interface TerminalListProps {
  readonly all: readonly TerminalInfo[];
  readonly shown: TerminalInfo | undefined;
}

/** All terminals by name, with their holders; ended ones are marked. */
function TerminalList({ all, shown }: TerminalListProps) {
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
        const hasExited = terminal.lifecycle.status === 'exited';
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

interface Terminals {
  /** All terminals, those of this session first. */
  readonly all: readonly TerminalInfo[];
  readonly shown: TerminalInfo | undefined;
  readonly isBusy: boolean;
  /** The host has no terminals. */
  readonly isMissing: boolean;
  create(): Promise<void>;
  dispose(uri: string): Promise<void>;
}

/** The terminals of the host, and functions that make and end them. */
function useTerminals(): Terminals {
  const { client, link } = useHost();
  const session = useOpenSession();
  const wanted = useStore(shownTerminal);
  const { terminals = [] } = useStore(link.root);
  const [isBusy, setBusy] = useState(false);
  const [isMissing, setMissing] = useState(false);
  const isOurs = ({ claim }: TerminalInfo) => claim.kind === 'session' && claim.session === session.uri;
  const all = [...terminals.filter(isOurs), ...terminals.filter((each) => !isOurs(each))];
  const shown = all.find(({ resource }) => resource === wanted) ?? all[0];

  const attempt = async (work: () => Promise<unknown>) => {
    setBusy(true);
    await work().catch((error) => {
      if (codeOf(error) === ErrorCode.MethodNotFound) setMissing(true);
      else tell(problemText(error));
    });
    setBusy(false);
  };
  const create = () =>
    attempt(async () => {
      const channel = `ahp-terminal:/${newId()}`;
      const cwd = folderOf(session.state);
      const claim = { kind: 'client' as const, clientId: client.clientId };
      await client.request('createTerminal', { channel, claim, ...(cwd !== undefined && { cwd }) });
      chooseTerminal(channel);
    });
  const dispose = (uri: string) => attempt(() => client.request('disposeTerminal', { channel: uri }));
  return { all, shown, isBusy, isMissing, create, dispose };
}
