/**
 * Back on a phone. What lies over the page (a dialog, the panel) covers it there, so Back closes it, as in other apps. For this
 * it has an entry of its own in the history, under the address that was there before.
 */
import { useEffect, useRef } from 'react';

const PHONE = '(max-width: 760px)';
/** What closes often goes somewhere, too; then its entry stays, and only leads to the same page. */
const LEAVE_MS = 50;

interface Entry {
  /** How much lies over the page, this included. */
  readonly over?: number;
}

let opened = 0;

function entry(): Entry {
  return (history.state as Entry | null) ?? {};
}

export function isPhone(): boolean {
  return matchMedia(PHONE).matches;
}

/** Calls `onBack` when Back is pressed while this lies over the page. */
export function useBack(isOver: boolean, onBack: () => void): void {
  const latest = useRef(onBack);
  latest.current = onBack;
  useEffect(() => {
    if (!isOver || !isPhone()) return;
    opened += 1;
    const over = opened;
    history.pushState({ over }, '');
    const popped = () => {
      if ((entry().over ?? 0) < over) latest.current();
    };
    addEventListener('popstate', popped);
    return () => {
      removeEventListener('popstate', popped);
      setTimeout(() => entry().over === over && history.back(), LEAVE_MS);
    };
  }, [isOver]);
}
