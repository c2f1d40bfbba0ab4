/** How full the model's window is, and what the last turn cost. */
import type { SessionState } from '@atrium/protocol';
import { useHost } from '../host/context.js';
import { short } from '../model/format.js';
import { useStore } from '../model/store.js';
import { contextUse, lastUsage, usageText } from '../model/usage.js';
import { Section } from './section.js';

export function Usage({ state }: { readonly state: SessionState }) {
  const { link } = useHost();
  const use = contextUse(state, useStore(link.root).agents);
  const usage = lastUsage(state);
  if (!use || !usage) return null;
  const { used, size } = use;
  return (
    <Section title="Tokens">
      <dl className="facts">
        <dt>Context</dt>
        <dd>{size === undefined ? short(used) : `${short(used)} of ${short(size)}`}</dd>
        <dt>Last turn</dt>
        <dd>{usageText(usage)}</dd>
      </dl>
    </Section>
  );
}
