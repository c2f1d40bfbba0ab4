/** The list of what could be inserted. The text field keeps the focus. */
import type { Completions } from './use-completions.js';

export function CompletionList({ completions }: { readonly completions: Completions }) {
  const { items, chosen, pick } = completions;
  if (items.length === 0) return null;
  return (
    <ul className="completions" aria-label="Completions">
      {items.map((item, index) => (
        <li key={`${item.insertText} ${item.attachment.label}`}>
          <button
            type="button"
            className={index === chosen ? 'chosen' : ''}
            aria-current={index === chosen}
            onMouseDown={(event) => event.preventDefault()}
            onClick={() => pick(item)}
          >
            <span>{item.insertText}</span> <span className="hint">{item.attachment.label}</span>
          </button>
        </li>
      ))}
    </ul>
  );
}
