/** A terminal that can be typed into. Whoever has it decides its size; others see it as it is. */
import { useCallback, useEffect, useRef } from 'react';
import { useStore } from '../model/store.js';
import { isMine, isOfCall } from './claims.js';
import { wasMine } from './hand-over.js';
import { KeyBar } from './key-bar.js';
import type { OpenTerminal } from './open-terminal.js';
import { takeFocusWish } from './shown-terminal.js';
import { TerminalBar } from './terminal-bar.js';
import { useScreen } from './use-screen.js';

/** While somebody drags the edge of the window. */
const CALM_MS = 80;

interface Props {
  readonly terminal: OpenTerminal;
  readonly onDispose: () => void;
  readonly onLeave: () => void;
}

export function TerminalView({ terminal, onDispose, onLeave }: Props) {
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
