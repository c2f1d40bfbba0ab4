/** A part of the settings, with its heading. */
import { type ReactNode, useEffect, useId, useRef } from 'react';
import { settingsPart } from '../ui/overlay.js';

interface PartProps {
  readonly title: string;
  readonly children: ReactNode;
}

export function Part({ title, children }: PartProps) {
  const id = useId();
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    if (settingsPart.get() !== title) return;
    settingsPart.set(undefined);
    goToHeading(heading.current);
  }, [title]);
  return (
    <section aria-labelledby={id}>
      <h3 id={id} ref={heading} tabIndex={-1} data-part={title}>
        {title}
      </h3>
      {children}
    </section>
  );
}

function goToHeading(heading: HTMLElement | null): void {
  heading?.scrollIntoView({ block: 'start' });
  heading?.focus({ preventScroll: true });
}

/** The way to each part: the settings are longer than a window. */
export function PartLinks({ titles }: { readonly titles: readonly string[] }) {
  return (
    <nav className="part-links" aria-label="Parts of the settings">
      {titles.map((title) => (
        <button
          key={title}
          type="button"
          className="quiet small"
          onClick={({ currentTarget }) =>
            goToHeading(currentTarget.closest('dialog')?.querySelector<HTMLElement>(`[data-part="${title}"]`) ?? null)
          }
        >
          {title}
        </button>
      ))}
    </nav>
  );
}
