/** A dialog of the browser's own: it keeps the focus inside, and Escape closes it. */
import { type MouseEvent, type ReactNode, useEffect, useRef, useState } from 'react';
import { useBack } from './back.js';
import { IconButton } from './icons.js';

interface Props {
  readonly title: string;
  readonly onClose: () => void;
  readonly children: ReactNode;
  readonly className?: string;
  readonly isTitleHidden?: boolean;
}

export function Dialog({ title, onClose, children, className = '', isTitleHidden = false }: Props) {
  const ref = useRef<HTMLDialogElement>(null);
  const wasPressedOutside = useRef(false);
  const [before] = useState(() => document.activeElement);
  useBack(true, onClose);
  useEffect(() => {
    ref.current?.showModal();
    // By itself the browser focuses the first element, which is the close button.
    ref.current?.querySelector<HTMLElement>('[data-first-focus]')?.focus();
    return () => {
      // The browser restores the focus only when it closes the dialog by itself.
      if (before instanceof HTMLElement && document.activeElement === document.body) before.focus();
    };
  }, [before]);
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the browser closes it with Escape; the click is on what is around it
    <dialog
      ref={ref}
      className={`dialog ${className}`}
      aria-label={title}
      onClose={onClose}
      onPointerDown={(event) => {
        wasPressedOutside.current = isOutside(event);
      }}
      onClick={(event) => wasPressedOutside.current && isOutside(event) && onClose()}
    >
      {!isTitleHidden && (
        <header>
          <h2>{title}</h2>
          <IconButton icon="close" label="Close" onClick={onClose} />
        </header>
      )}
      {children}
    </dialog>
  );
}

/** True for a click around the dialog: not in its padding, and not at the end of a dragged selection. */
function isOutside({ target, currentTarget, clientX, clientY }: MouseEvent): boolean {
  const { left, right, top, bottom } = currentTarget.getBoundingClientRect();
  const isInside = left <= clientX && clientX <= right && top <= clientY && clientY <= bottom;
  return target === currentTarget && !isInside;
}
