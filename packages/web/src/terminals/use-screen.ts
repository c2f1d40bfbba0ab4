/** Puts a terminal into an element, in the colours of the page. */
import { type RefObject, useEffect, useRef, useState } from 'react';
import { theme } from '../ui/theme.js';
import { Screen, type ScreenOptions } from './screen.js';
import { isForScreenReaders } from './screen-reader.js';

export function useScreen(box: RefObject<HTMLElement | null>, options: ScreenOptions): Screen | undefined {
  const [screen, setScreen] = useState<Screen>();
  /** Whether this page answers may change; the terminal on the screen stays. */
  const latest = useRef(options);
  latest.current = options;
  const { terminal, isReadOnly } = options;
  useEffect(() => {
    if (!box.current) return;
    const own = new Screen(box.current, {
      terminal,
      isReadOnly,
      isHolder: () => latest.current.isHolder(),
      onLeave: () => latest.current.onLeave?.(),
      onDrawn: () => latest.current.onDrawn?.(),
    });
    setScreen(own);
    const system = matchMedia('(prefers-color-scheme: dark)');
    const recolour = () => requestAnimationFrame(() => own.recolour());
    const stops = [
      theme.subscribe(recolour),
      isForScreenReaders.subscribe(() => own.readForScreenReaders(isForScreenReaders.get())),
    ];
    system.addEventListener('change', recolour);
    return () => {
      for (const stop of stops) stop();
      system.removeEventListener('change', recolour);
      own.dispose();
      setScreen(undefined);
    };
  }, [box, terminal, isReadOnly]);
  return screen;
}
