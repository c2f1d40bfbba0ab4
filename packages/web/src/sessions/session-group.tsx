/** Some sessions under a heading. The archive begins folded. */
import type { SessionSummary } from '@atrium/protocol';
import { useNow } from '../ui/use-now.js';
import { SessionItem } from './session-item.js';

interface Props {
  readonly title: string;
  readonly items: readonly SessionSummary[];
  readonly isFolded?: boolean;
}

export function SessionGroup({ title, items, isFolded = false }: Props) {
  const now = useNow();
  if (items.length === 0) return null;
  const list = (
    <ul>
      {items.map((item) => (
        <SessionItem key={item.resource} item={item} now={now} />
      ))}
    </ul>
  );
  if (!isFolded)
    return (
      <section>
        <h2>{title}</h2>
        {list}
      </section>
    );
  return (
    <details className="fold">
      <summary>
        {title} <span className="count">{items.length}</span>
      </summary>
      {list}
    </details>
  );
}
