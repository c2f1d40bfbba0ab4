/** The terminals of the host: choose one, watch it, type into it. */
import { useRef } from 'react';
import { Icon } from '../ui/icons.js';
import { ShownTerminal } from './shown-terminal-view.js';
import { TerminalList } from './terminal-list.js';
import { useTerminals } from './use-terminals.js';
import './terminals.css';

export function TerminalPanel() {
  const terminals = useTerminals();
  const { all, shown, isBusy, create } = terminals;
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
            disabled={isBusy}
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
