/** The bar above a terminal: its holder and size, and buttons to take, leave or end it. */
import { useState } from 'react';
import { useOpenSession } from '../host/context.js';
import { useStore } from '../model/store.js';
import { Dialog } from '../ui/dialog.js';
import { useKeptFocus } from '../ui/focus.js';
import { isMine, isOfCall, ownerWords, sessionClaim } from './claims.js';
import type { OpenTerminal, TerminalAbout } from './open-terminal.js';

const TAKE_OVER = { session: 'Make it yours', client: 'Make it yours, once the device that has it is gone' };

interface Props {
  readonly terminal: OpenTerminal;
  /** Gives the terminal the size of this screen. */
  readonly onFit: () => void;
  readonly onDispose: () => void;
}

export function TerminalBar({ terminal, onFit, onDispose }: Props) {
  const session = useOpenSession();
  const about = useStore(terminal.about);
  const [isAsking, setAsking] = useState(false);
  const { claim, hasExited } = about;
  const me = terminal.client.clientId;
  const claimAs = (next: TerminalAbout['claim']) => terminal.dispatch({ type: 'terminal/claimed', claim: next });
  const isOfSession = claim.kind === 'session' && !hasExited;
  return (
    <>
      <div className="terminal-bar" {...useKeptFocus((bar) => bar.querySelector('button'))}>
        <span role="status">{words(about, me, session.uri)}</span>
        {!isMine(claim, me) && !hasExited && (
          <Action
            label="Take over"
            title={TAKE_OVER[claim.kind]}
            onClick={() => claimAs({ kind: 'client', clientId: me })}
          />
        )}
        {isOfSession && isOfCall(claim) && (
          <Action
            label="Detach"
            title="The agent goes on; the command runs in the background"
            onClick={() => claimAs({ kind: 'session', session: claim.session, chat: claim.chat })}
          />
        )}
        {isMine(claim, me) && !hasExited && (
          <Action
            label="Leave to the session"
            title="Others in this session can take it over then"
            onClick={() => claimAs(sessionClaim(session))}
          />
        )}
        {!isMine(claim, me) && !hasExited && (
          <Action label="Fit here" title="Give it the size of this screen" onClick={onFit} />
        )}
        <Action label="Close" title="End what runs in it" onClick={() => (hasExited ? onDispose() : setAsking(true))} />
      </div>
      {isAsking && <CloseQuestion onYes={onDispose} onClose={() => setAsking(false)} />}
    </>
  );
}

interface ActionProps {
  readonly label: string;
  readonly title: string;
  readonly onClick: () => void;
}

function Action({ label, title, onClick }: ActionProps) {
  return (
    <button type="button" className="quiet small" title={title} onClick={onClick}>
      {label}
    </button>
  );
}

function words({ claim, hasExited, exitCode, cols, rows }: TerminalAbout, me: string, session: string): string {
  if (hasExited) return exitCode === undefined ? 'Ended' : `Ended with exit code ${exitCode}`;
  const size = cols !== undefined && rows !== undefined ? ` · ${cols}\u00a0×\u00a0${rows}` : '';
  return `${ownerWords(claim, me, session)}${size}`;
}

interface CloseQuestionProps {
  readonly onYes: () => void;
  readonly onClose: () => void;
}

/** Asks before it ends a running program. */
function CloseQuestion({ onYes, onClose }: CloseQuestionProps) {
  const end = () => {
    onClose();
    onYes();
  };
  return (
    <Dialog title="Close this terminal?" onClose={onClose}>
      <p>This ends everything that runs in it, for everybody who watches.</p>
      <div className="buttons">
        <button type="button" className="danger" onClick={end}>
          End it
        </button>
        <button type="button" onClick={onClose}>
          Keep it
        </button>
      </div>
    </Dialog>
  );
}
