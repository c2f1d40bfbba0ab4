/** A dialog of the browser's own: it keeps the focus inside, and Escape closes it. */
import { type ReactNode, useEffect, useRef } from 'react';
import { IconButton } from './icon-button.js';

interface Props {
  readonly title: string;
  readonly onClose: () => void;
  readonly children: ReactNode;
  readonly className?: string;
  readonly isTitleHidden?: boolean;
}

export function Dialog({ title, onClose, children, className = '', isTitleHidden = false }: Props) {
  const ref = useRef<HTMLDialogElement>(null);
  useEffect(() => ref.current?.showModal(), []);
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the browser closes it with Escape; the click is on what is around it
    <dialog
      ref={ref}
      className={`dialog ${className}`}
      aria-label={title}
      onClose={onClose}
      onClick={(event) => event.target === ref.current && onClose()}
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
