/** The thinking of a model: visible while it thinks, folded afterwards. */
import { useState } from 'react';

interface Props {
  readonly text: string;
  /** It thinks right now. */
  readonly isOpen: boolean;
}

export function Reasoning({ text, isOpen }: Props) {
  const [choice, setChoice] = useState<boolean>();
  const isShown = choice ?? isOpen;
  return (
    <section className="reasoning">
      <button
        type="button"
        className="quiet small disclosure"
        aria-expanded={isShown}
        onClick={() => setChoice(!isShown)}
      >
        {isOpen ? 'Thinking' : 'Thought'}
      </button>
      {isShown && <p>{text}</p>}
    </section>
  );
}
