/** A text field with suggestions. Arrows choose, Enter takes, Escape closes; leaving the field keeps the typed text. */
import { type KeyboardEvent, useEffect, useId, useState } from 'react';

const WAIT_MS = 150;
const CLOSED = { items: [], chosen: -1 };

interface Suggestion {
  readonly value: string;
  readonly label: string;
  readonly description?: string;
}

interface Props {
  readonly id: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
  readonly suggest: (query: string) => Promise<readonly Suggestion[]>;
}

interface Shown {
  readonly items: readonly Suggestion[];
  readonly chosen: number;
}

export function SuggestInput({ id, value, onChange, suggest }: Props) {
  const listId = useId();
  /** The text being typed; undefined while the field is not being edited. */
  const [draft, setDraft] = useState<string>();
  const [isOpen, setOpen] = useState(false);
  const [{ items, chosen }, setShown] = useSuggestions(isOpen ? (draft ?? '') : undefined, suggest);
  const take = (next: string) => {
    setOpen(false);
    setDraft(undefined);
    if (next !== value) onChange(next);
  };
  const pressed = (event: KeyboardEvent) => {
    const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0;
    if (step !== 0) {
      setOpen(true);
      setShown({ items, chosen: stepped(chosen, step, items.length) });
    } else if (event.key === 'Enter') take(items[chosen]?.value ?? draft ?? value);
    else if (event.key === 'Escape' && isOpen) setOpen(false);
    else return;
    event.preventDefault();
  };
  return (
    <div className="suggest">
      <input
        id={id}
        type="text"
        role="combobox"
        aria-autocomplete="list"
        aria-expanded={items.length > 0}
        aria-controls={listId}
        aria-activedescendant={items[chosen] && `${listId}-${chosen}`}
        autoComplete="off"
        spellCheck={false}
        value={draft ?? value}
        onFocus={() => setOpen(true)}
        onBlur={() => take(draft ?? value)}
        onChange={({ target }) => {
          setDraft(target.value);
          setOpen(true);
          // Enter takes the typed text, not an earlier choice.
          setShown({ items, chosen: -1 });
        }}
        onKeyDown={pressed}
      />
      <div className="suggestions" role="listbox" id={listId} aria-label="Suggestions" hidden={items.length === 0}>
        {items.map((item, index) => (
          // biome-ignore lint/a11y/useFocusableInteractive: the field keeps the focus and names the chosen option
          // biome-ignore lint/a11y/useKeyWithClickEvents: keys are handled by the field
          <div
            key={item.value}
            role="option"
            id={`${listId}-${index}`}
            aria-selected={index === chosen}
            onMouseDown={(event) => event.preventDefault()}
            onClick={() => take(item.value)}
          >
            <span>{item.label}</span>
            {item.description && <span className="hint">{item.description}</span>}
          </div>
        ))}
      </div>
    </div>
  );
}

/** Wraps around the list; without a choice (-1), up goes to the last one. */
function stepped(chosen: number, step: number, count: number): number {
  if (count === 0) return -1;
  return chosen === -1 && step === -1 ? count - 1 : (chosen + step + count) % count;
}

/** Old suggestions stay until newer ones arrive, so that nothing flickers. */
function useSuggestions(query: string | undefined, suggest: Props['suggest']): [Shown, (shown: Shown) => void] {
  const [shown, setShown] = useState<Shown>(CLOSED);
  // biome-ignore lint/correctness/useExhaustiveDependencies: `suggest` may be a new function at every render
  useEffect(() => {
    if (query === undefined) return setShown(CLOSED);
    let isOver = false;
    const timer = setTimeout(
      () =>
        suggest(query).then(
          (items) => isOver || setShown({ items, chosen: -1 }),
          () => isOver || setShown(CLOSED),
        ),
      query === '' ? 0 : WAIT_MS,
    );
    return () => {
      isOver = true;
      clearTimeout(timer);
    };
  }, [query]);
  return [shown, setShown];
}
