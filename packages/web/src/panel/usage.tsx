/** How full the model's window is, and what the last turn cost. */
import type { SessionState } from '@atrium/protocol';
import { useHost } from '../host/context.js';
import { short } from '../model/format.js';
import { useStore } from '../model/store.js';
import { contextUse } from '../model/usage.js';
import { Section } from './section.js';

export function Usage({ state }: { readonly state: SessionState }) {
  const { link } = useHost();
  const use = contextUse(state, useStore(link.root).agents);
  if (!use) return null;
  const { used, size } = use;
  return (
    <Section title="Context">
      {size !== undefined && (
        <meter
          aria-label="Share of the context window"
          min={0}
          max={size}
          high={size * 0.8}
          value={Math.min(used, size)}
        />
      )}
      <p className="hint">
        {short(used)} tokens in the last turn{size !== undefined && `, of ${short(size)}`}
      </p>
    </Section>
  );
}
