/** The details of a session: what it may do, who takes part, what it has loaded, what it cost. */
import type { SessionState, ToolDefinition } from '@atrium/protocol';
import { useHost } from '../host/context.js';
import { plural, short } from '../model/format.js';
import { useStore } from '../model/store.js';
import { contextUse, lastUsage, usageText } from '../model/usage.js';
import { Customizations } from './customizations.js';
import { Providers } from './providers.js';
import { Section } from './section.js';
import { Settings } from './settings.js';

export function Details({ state }: { readonly state: SessionState }) {
  return (
    <div className="details">
      <Settings state={state} />
      <Usage state={state} />
      <Providers state={state} />
      <Customizations items={state.customizations} />
      <Tools state={state} />
      <People state={state} />
    </div>
  );
}

/** Which client lends its tools to the session, and how this page is connected. */
function People({ state }: { readonly state: SessionState }) {
  const { link, client } = useHost();
  const status = useStore(link.status);
  const { activeClient } = state;
  const isMe = activeClient?.clientId === client.clientId;
  return (
    <Section title="Connection">
      <dl className="facts">
        <dt>This page</dt>
        <dd>{status.at === 'open' ? `connected, protocol ${status.protocolVersion}` : status.at}</dd>
        <dt>Lends tools</dt>
        <dd>
          {activeClient
            ? `${isMe ? 'this page' : (activeClient.displayName ?? activeClient.clientId)}, ${plural(activeClient.tools.length, 'tool')}`
            : 'no client'}
        </dd>
      </dl>
    </Section>
  );
}

/** The tools that the model may call, by whom they come from. */
function Tools({ state }: { readonly state: SessionState }) {
  const own = state.serverTools ?? [];
  const lent = state.activeClient?.tools ?? [];
  if (own.length + lent.length === 0) return null;
  return (
    <Section title="Tools" count={own.length + lent.length}>
      <details className="fold">
        <summary>Show them</summary>
        <ul className="entries">
          {[...own, ...lent].map((tool) => (
            <Tool key={tool.name} tool={tool} />
          ))}
        </ul>
      </details>
    </Section>
  );
}

function Tool({ tool }: { readonly tool: ToolDefinition }) {
  return (
    <li>
      <span className="name mono">{tool.name}</span>
      {tool.annotations?.readOnlyHint && <span className="tag">reads only</span>}
      {tool.description && <p className="hint">{tool.description}</p>}
    </li>
  );
}

/** How full the model's window is, and what the last turn cost. */
function Usage({ state }: { readonly state: SessionState }) {
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
