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
