/** The live output of a tool's command, with buttons to open it, take it over, or let it run on its own. */
import { type ReactNode, useCallback, useEffect, useRef } from 'react';
import { useOpenSession } from '../host/context.js';
import { useOpened } from '../host/use-opened.js';
import { useStore } from '../model/store.js';
import { isOfCall, sessionClaim } from './claims.js';
import { OpenTerminal } from './open-terminal.js';
import { type Screen, useScreen } from './screen.js';
import { showTerminal } from './shown-terminal.js';
import './terminals.css';

const LINES_MAX = 14;

interface Props {
  readonly uri: string;
  /** Shown until the terminal has loaded. The host keeps the terminals of finished commands only for a while. */
  readonly children: ReactNode;
}

export function InlineView({ uri, children }: Props) {
  const opening = useOpened(OpenTerminal.open, uri);
  return opening.at === 'open' ? <Live terminal={opening.thing} /> : children;
}

function Live({ terminal }: { readonly terminal: OpenTerminal }) {
  const session = useOpenSession();
  const { title, claim, cols, rows, hasExited, exitCode } = useStore(terminal.about);
  const box = useRef<HTMLDivElement>(null);
  const frame = useRef<HTMLDivElement>(null);
  const screen = useRef<Screen>(undefined);
  const fitLines = useCallback(() => {
    if (screen.current && frame.current && box.current) showUsed(screen.current, frame.current, box.current);
  }, []);
  const own = useScreen(box, { terminal, isReadOnly: true, isHolder: () => false, onDrawn: fitLines });
  screen.current = own;
  useEffect(() => {
    if (own && cols !== undefined && rows !== undefined) own.shrinkTo(cols, rows);
    fitLines();
  }, [own, cols, rows, fitLines]);
  const take = () => {
    terminal.dispatch({ type: 'terminal/claimed', claim: { kind: 'client', clientId: terminal.client.clientId } });
    showTerminal(terminal.uri);
  };
  return (
    <section className="inline-terminal" aria-label={`Terminal: ${title}`}>
      <div className="tool-output terminal-frame" ref={frame}>
        <div ref={box} />
      </div>
      <div className="buttons">
        <button type="button" className="quiet small" onClick={() => showTerminal(terminal.uri)}>
          Open in the panel
        </button>
        {!hasExited && claim.kind === 'session' && (
          <button type="button" className="quiet small" title="Type into it yourself" onClick={take}>
            Take over
          </button>
        )}
        {!hasExited && isOfCall(claim) && (
          <button
            type="button"
            className="quiet small"
            title="The agent goes on; the command runs in the background"
            onClick={() => terminal.dispatch({ type: 'terminal/claimed', claim: sessionClaim(session) })}
          >
            Detach
          </button>
        )}
        {hasExited && exitCode !== undefined && <span className="hint">Exit code {exitCode}</span>}
      </div>
    </section>
  );
}

/** Makes the terminal as high as its content, up to some lines; then the current line stays in view. */
function showUsed({ lines: { used, all, cursor } }: Screen, frame: HTMLElement, box: HTMLElement): void {
  const line = box.offsetHeight / all;
  if (!Number.isFinite(line) || line === 0) return;
  const shown = Math.min(LINES_MAX, used);
  const around = frame.offsetHeight - frame.clientHeight;
  frame.style.height = `${Math.ceil(shown * line) + around}px`;
  frame.scrollTop = Math.max(0, (Math.max(cursor, used - 1) + 1) * line - frame.clientHeight);
}
