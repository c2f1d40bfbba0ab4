/** The details of a session: what it may do, who takes part, what it has loaded, what it cost. */
import type { ChatState, SessionState, ToolDefinition } from '@atrium/protocol/ahp-1';
import { useHost } from '../host/context.js';
import { plural, short } from '../model/format.js';
import { selectionFor } from '../model/selection.js';
import { useStore } from '../model/store.js';
import { contextUse, lastUsage, usageText } from '../model/usage.js';
import { Customizations } from './customizations.js';
import { Providers } from './providers.js';
import { Section } from './section.js';
import { Settings } from './settings.js';

interface Props {
  readonly state: SessionState;
  readonly chat: ChatState;
}

export function Details({ state, chat }: Props) {
  return (
    <div className="details">
      <Settings state={state} />
      <Usage state={state} chat={chat} />
      <Providers state={state} />
      <Customizations items={state.customizations} />
      <Tools state={state} />
      <People state={state} />
    </div>
  );
}

/** Which clients lend their tools to the session, and how this page is connected. */
function People({ state }: { readonly state: SessionState }) {
  const { link, client } = useHost();
  const status = useStore(link.status);
  const lenders = state.activeClients.map(({ clientId, displayName, tools }) => {
    const name = clientId === client.clientId ? 'this page' : (displayName ?? clientId);
    return `${name}, ${plural(tools.length, 'tool')}`;
  });
  return (
    <Section title="Connection">
      <dl className="facts">
        <dt>This page</dt>
        <dd>{status.at === 'open' ? `connected, protocol ${status.protocolVersion}` : status.at}</dd>
        <dt>Lends tools</dt>
        <dd>{lenders.length > 0 ? lenders.join('; ') : 'no client'}</dd>
      </dl>
    </Section>
  );
}

/** The tools that the model may call, by whom they come from. */
function Tools({ state }: { readonly state: SessionState }) {
  const own = state.serverTools ?? [];
  const lent = state.activeClients.flatMap(({ tools }) => tools);
  if (own.length + lent.length === 0) return null;
  return (
    <Section title="Tools" count={own.length + lent.length}>
      <details className="fold">
        <summary>Show them</summary>
        <ul className="entries">
          {[...own, ...lent].map((tool, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: two clients may lend tools of the same name
            <Tool key={`${index} ${tool.name}`} tool={tool} />
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
function Usage({ state, chat }: Props) {
  const { link } = useHost();
  const { model } = selectionFor({}, state, chat);
  const asked = { provider: state.provider, chat, model: model?.id };
  const use = contextUse(asked, useStore(link.root).agents);
  const usage = lastUsage(chat);
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
