/** The keys that keyboards of phones do not have. Elsewhere it is not shown. */

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

export function KeyBar({ onKey }: { readonly onKey: (data: string) => void }) {
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset cannot be laid out like this in every browser
    <div className="key-bar" role="group" aria-label="Keys">
      {KEYS.map(([name, data, label]) => (
        <button
          key={name}
          type="button"
          className="small"
          aria-label={label}
          // The keyboard on the screen stays.
          onPointerDown={(event) => event.preventDefault()}
          onClick={() => onKey(data)}
        >
          {name}
        </button>
      ))}
    </div>
  );
}
