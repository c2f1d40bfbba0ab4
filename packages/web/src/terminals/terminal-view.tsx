/** A terminal to type into. The client that holds it decides its size; others see that size. */
import { useCallback, useEffect, useRef } from 'react';
import { useOpened } from '../host/use-opened.js';
import { useStore } from '../model/store.js';
import { isMine, isOfCall, wasMine } from './claims.js';
import { OpenTerminal } from './open-terminal.js';
import { useScreen } from './screen.js';
import { takeFocusWish } from './shown-terminal.js';
import { TerminalBar } from './terminal-bar.js';

/** Waits for the end of a resize by dragging. */
const CALM_MS = 80;

interface Props {
  readonly terminal: OpenTerminal;
  readonly onDispose: () => void;
  readonly onLeave: () => void;
}

function TerminalView({ terminal, onDispose, onLeave }: Props) {
  const box = useRef<HTMLDivElement>(null);
  const { title, claim, cols, rows, hasExited } = useStore(terminal.about);
  const isHolder = isMine(claim, terminal.client.clientId) && !hasExited;
  const screen = useScreen(box, { terminal, isReadOnly: false, isHolder: () => isHolder, onLeave });

  const fit = useCallback(() => {
    if (!screen) return;
    const room = isHolder ? screen.room() : undefined;
    if (room && (room.cols !== cols || room.rows !== rows)) terminal.dispatch({ type: 'terminal/resized', ...room });
    if (room) screen.resize(room.cols, room.rows);
    else if (cols !== undefined && rows !== undefined) screen.shrinkTo(cols, rows);
  }, [screen, terminal, isHolder, cols, rows]);

  useEffect(() => {
    fit();
    if (!box.current) return;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const observer = new ResizeObserver(() => {
      clearTimeout(timer);
      timer = setTimeout(fit, CALM_MS);
    });
    observer.observe(box.current);
    return () => {
      clearTimeout(timer);
      observer.disconnect();
    };
  }, [fit]);
  useEffect(() => {
    const { claim: now } = terminal.about.get();
    if (now.kind !== 'session' || isOfCall(now) || !wasMine(terminal.uri)) return;
    terminal.dispatch({ type: 'terminal/claimed', claim: { kind: 'client', clientId: terminal.client.clientId } });
  }, [terminal]);
  useEffect(() => {
    if (screen && takeFocusWish()) screen.focus();
  }, [screen]);
  const fitHere = () => {
    const room = screen?.room();
    if (room) terminal.dispatch({ type: 'terminal/resized', ...room });
  };
  return (
    <>
      <TerminalBar terminal={terminal} onFit={fitHere} onDispose={onDispose} />
      <section className="terminal-screen" aria-label={`Terminal: ${title}`} aria-description="Shift+Escape leaves it">
        <div ref={box} />
      </section>
      {!hasExited && <KeyBar onKey={(data) => terminal.input(data)} />}
    </>
  );
}

interface ShownTerminalProps {
  readonly uri: string;
  readonly onDispose: () => void;
  readonly onLeave: () => void;
}

/** The chosen terminal, once it has loaded. */
export function ShownTerminal({ uri, onDispose, onLeave }: ShownTerminalProps) {
  const opening = useOpened(OpenTerminal.open, uri);
  if (opening.at === 'loading') return <p className="terminal-note hint">Loading …</p>;
  if (opening.at === 'failed')
    return (
      <p className="terminal-note" role="alert">
        {opening.why}
      </p>
    );
  return <TerminalView terminal={opening.thing} onDispose={onDispose} onLeave={onLeave} />;
}

const KEYS: readonly (readonly [name: string, data: string, label?: string])[] = [
  ['Esc', '\x1b'],
  ['Tab', '\t'],
  ['Ctrl C', '\x03'],
  ['Ctrl D', '\x04'],
  ['↑', '\x1b[A', 'Up'],
  ['↓', '\x1b[B', 'Down'],
  ['←', '\x1b[D', 'Left'],
  ['→', '\x1b[C', 'Right'],
];

/** The keys that keyboards of phones lack; shown only on phones. */
function KeyBar({ onKey }: { readonly onKey: (data: string) => void }) {
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset cannot be laid out like this in every browser
    <div className="key-bar" role="group" aria-label="Keys">
      {KEYS.map(([name, data, label]) => (
        <button
          key={name}
          type="button"
          className="small"
          aria-label={label}
          // Keeps the on-screen keyboard open.
          onPointerDown={(event) => event.preventDefault()}
          onClick={() => onKey(data)}
        >
          {name}
        </button>
      ))}
    </div>
  );
}
