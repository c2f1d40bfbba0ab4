/** What goes along with the message. */
import type { MessageAttachment } from '@atrium/protocol';
import { IconButton } from '../ui/icon-button.js';

interface Props {
  readonly items: readonly MessageAttachment[];
  readonly onChange: (items: readonly MessageAttachment[]) => void;
}

export function Attachments({ items, onChange }: Props) {
  if (items.length === 0) return null;
  return (
    <ul className="chips" aria-label="Attachments">
      {items.map((item, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: attachments have no id
        <li key={index}>
          {item.label}
          <IconButton
            icon="close"
            label={`Remove ${item.label}`}
            onClick={() => onChange(items.filter((each) => each !== item))}
          />
        </li>
      ))}
    </ul>
  );
}

/** The same thing mentioned twice goes along once. */
export function withAttachment(
  items: readonly MessageAttachment[],
  added: MessageAttachment,
): readonly MessageAttachment[] {
  const text = JSON.stringify(added);
  return items.some((item) => JSON.stringify(item) === text) ? items : [...items, added];
}
