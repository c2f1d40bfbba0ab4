/**
 * Keeps the end of a list in view while it grows: new rows, output that streams, a diff that arrives late, a dock that
 * gets taller. Scrolling up, or unfolding something, lets go; coming back to the end takes hold again.
 */
import { type RefObject, useCallback, useEffect, useRef, useState } from 'react';

/** A distance below this counts as the end. */
const END_PX = 60;

interface FollowEnd {
  readonly isAtEnd: boolean;
  toEnd(): void;
  /** Stops following the end, because the person looks at something in particular. */
  letGo(): void;
  /** Call it when the list was scrolled. */
  scrolled(): void;
}

interface Elements {
  readonly scroller: RefObject<HTMLElement | null>;
  /** The content of the scroller, whose height changes. */
  readonly content: RefObject<HTMLElement | null>;
}

export function useFollowEnd({ scroller, content }: Elements): FollowEnd {
  const isHeld = useRef(true);
  const last = useRef({ top: 0, height: 0 });
  const [isAtEnd, setAtEnd] = useState(true);

  const look = useCallback(() => {
    const box = scroller.current;
    if (!box) return;
    last.current = { top: box.scrollTop, height: box.scrollHeight };
    setAtEnd(isHeld.current || leftBelow(box) <= END_PX);
  }, [scroller]);
  const toEnd = useCallback(() => {
    isHeld.current = true;
    const box = scroller.current;
    if (box) box.scrollTop = box.scrollHeight;
    look();
  }, [scroller, look]);
  const scrolled = useCallback(() => {
    const box = scroller.current;
    if (!box) return;
    const { top, height } = last.current;
    // Rows that are smaller than expected also move the position; that does not mean that the person scrolled.
    if (leftBelow(box) <= END_PX) isHeld.current = true;
    else if (box.scrollTop < top && box.scrollHeight >= height) isHeld.current = false;
    look();
  }, [scroller, look]);
  const letGo = useCallback(() => {
    isHeld.current = false;
  }, []);

  useEffect(() => {
    const observer = new ResizeObserver(() => (isHeld.current ? toEnd() : look()));
    for (const { current } of [scroller, content]) if (current) observer.observe(current);
    return () => observer.disconnect();
  }, [scroller, content, toEnd, look]);
  return { isAtEnd, toEnd, letGo, scrolled };
}

function leftBelow({ scrollHeight, clientHeight, scrollTop }: HTMLElement): number {
  return scrollHeight - clientHeight - scrollTop;
}
