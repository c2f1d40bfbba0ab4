/** The list of completions. The text field keeps the focus and handles the keys. */
import { commandSource } from '@atrium/protocol/ahp-1';
import { useEffect } from 'react';
import type { Offered } from './mention.js';
import type { Completions } from './use-completions.js';

export function CompletionList({ completions }: { readonly completions: Completions }) {
  const { items, chosen, id, pick } = completions;
  useEffect(() => {
    document.getElementById(`${id}-${chosen}`)?.scrollIntoView({ block: 'nearest' });
  }, [id, chosen]);
  if (items.length === 0) return null;
  return (
    <div className="completions" role="listbox" id={id} aria-label="Completions">
      {items.map((item, index) => (
        // biome-ignore lint/a11y/useFocusableInteractive: the field keeps the focus and names the chosen option
        // biome-ignore lint/a11y/useKeyWithClickEvents: keys are handled by the field
        <div
          // biome-ignore lint/suspicious/noArrayIndexKey: two items may look the same, and the list comes as a whole
          key={index}
          role="option"
          id={`${id}-${index}`}
          aria-selected={index === chosen}
          onMouseDown={(event) => event.preventDefault()}
          onClick={() => pick(item)}
        >
          <span className="name">{item.label ?? item.insertText.trim()}</span>
          <span className="hint">{hintOf(item)}</span>
        </div>
      ))}
    </div>
  );
}

/** A hint, unless the name already says the same. */
function hintOf({ insertText, attachment, about }: Offered): string {
  if (!attachment) return about ?? '';
  const { label, displayKind } = attachment;
  const source = commandSource(attachment._meta);
  if (source !== undefined) return `${displayKind ?? 'command'} of ${source}`;
  const name = insertText.trim();
  const bare = name.slice(1);
  if (label === name || label === bare) return displayKind ?? '';
  return label.startsWith(bare)
    ? label
        .slice(bare.length)
        .trim()
        .replace(/^\((.*)\)$/, '$1')
    : label;
}
