/** The details of a session: its settings, its clients, its customizations, its cost. */
import {
  type ChatState,
  moneyText,
  type SessionState,
  type ToolDefinition,
  type UsageInfo,
  type UsageTotals,
} from '@atrium/protocol/ahp-1';
import { useEffect, useState } from 'react';
import { useHost, useOpenSession } from '../host/context.js';
import { isAtrium } from '../host/extensions.js';
import { plural, short } from '../model/format.js';
import { selectionFor } from '../model/selection.js';
import { useStore } from '../model/store.js';
import { contextUse, lastUsage, readUsage, usageText } from '../model/usage.js';
import { PlanSection } from '../plan/plan.js';
import { Customizations } from './customizations.js';
import { Instructions } from './instructions.js';
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
      <PlanSection state={state} chat={chat} />
      <Settings state={state} />
      <Usage state={state} chat={chat} />
      <Providers state={state} />
      <Instructions chat={chat} />
      <Customizations items={state.customizations} />
      <Tools state={state} />
      <People state={state} />
    </div>
  );
}

/** The clients that lend tools to the session, and the connection of this page. */
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

/** The tools that the model may call, grouped by their owners. */
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

/** How full the model's window is, the usage of the last turn, and the usage and cost of the whole session. */
function Usage({ state, chat }: Props) {
  const { link } = useHost();
  const { model } = selectionFor({}, state, chat);
  const asked = { provider: state.provider, chat, model: model?.id };
  const use = contextUse(asked, useStore(link.root).agents);
  const usage = lastUsage(chat);
  const total = useSessionUsage(usage);
  if (!use && !total?.turns) return null;
  return (
    <Section title="Tokens and cost">
      <dl className="facts" id="session-cost">
        {use && (
          <>
            <dt>Context</dt>
            <dd>{use.size === undefined ? short(use.used) : `${short(use.used)} of ${short(use.size)}`}</dd>
          </>
        )}
        {usage && (
          <>
            <dt>Last turn</dt>
            <dd>{usageText(usage)}</dd>
          </>
        )}
        {total && (
          <>
            <dt>Session</dt>
            <dd>{totalText(total)}</dd>
          </>
        )}
        {total?.cost !== undefined && (
          <>
            <dt>Cost</dt>
            <dd>{moneyText(total.cost)}</dd>
          </>
        )}
      </dl>
    </Section>
  );
}

/** Asks again when the usage of a turn changes. Hosts of others do not count. */
function useSessionUsage(usage: UsageInfo | undefined): UsageTotals | undefined {
  const { client } = useHost();
  const { uri } = useOpenSession();
  const [total, setTotal] = useState<UsageTotals>();
  // biome-ignore lint/correctness/useExhaustiveDependencies: what was used is a reason to ask
  useEffect(() => {
    if (!isAtrium(client)) return;
    let isOver = false;
    const timer = setTimeout(() => {
      readUsage(client, { by: 'model', session: uri }).then(
        ({ total: used }) => isOver || setTotal(used),
        () => {},
      );
    }, ASK_AFTER_MS);
    return () => {
      isOver = true;
      clearTimeout(timer);
    };
  }, [client, uri, usage]);
  return total;
}

/** Steps of a turn may follow each other quickly. */
const ASK_AFTER_MS = 300;

function totalText({ input, cacheRead, output, turns }: UsageTotals): string {
  const cached = cacheRead > 0 ? ` (${short(cacheRead)} cached)` : '';
  const ended = turns > 0 ? ` · ${plural(turns, 'turn')}` : '';
  return `${short(input)} in${cached} · ${short(output)} out${ended}`;
}
