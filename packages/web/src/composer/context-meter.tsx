/** How full the model's window is: a ring that fills, or just the number where the size of the window is unknown. */
import type { SessionState } from '@atrium/protocol';
import { useHost } from '../host/context.js';
import { short } from '../model/format.js';
import { useStore } from '../model/store.js';
import { contextUse } from '../model/usage.js';

/** Beyond this share it is time to think about a new session. */
const HIGH = 0.8;
/** So that the share in percent is the length of the line. */
const RADIUS = 100 / (2 * Math.PI);

export function ContextMeter({ state }: { readonly state: SessionState }) {
  const { link } = useHost();
  const use = contextUse(state, useStore(link.root).agents);
  if (!use) return null;
  const { used, size } = use;
  if (size === undefined) return <span className="context-meter">{short(used)} tokens</span>;
  const share = Math.min(1, used / size);
  const percent = Math.round(share * 100);
  const words = `Context: ${short(used)} of ${short(size)} tokens`;
  return (
    <span className={`context-meter ${share > HIGH ? 'high' : ''}`} title={words}>
      <svg viewBox="0 0 40 40" role="img" aria-label={words}>
        <circle cx="20" cy="20" r={RADIUS} />
        <circle className="used" cx="20" cy="20" r={RADIUS} strokeDasharray={`${percent} 100`} />
      </svg>
      {percent}%
    </span>
  );
}
