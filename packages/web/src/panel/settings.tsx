/** Who works where, and the configuration as far as it can still be changed. */
import type { SessionState } from '@atrium/protocol';
import { useHost, useOpenSession } from '../host/context.js';
import { pathOf } from '../model/format.js';
import { useStore } from '../model/store.js';
import { ConfigFields } from '../sessions/config-fields.js';
import { Section } from './section.js';
import { SessionActions } from './session-actions.js';

export function Settings({ state }: { readonly state: SessionState }) {
  const { link } = useHost();
  const session = useOpenSession();
  const { summary } = state;
  const agent = useStore(link.root).agents.find(({ provider }) => provider === summary.provider);
  return (
    <Section title="Session">
      <dl className="facts">
        <dt>Agent</dt>
        <dd>{agent?.displayName ?? summary.provider}</dd>
        {summary.workingDirectory && (
          <>
            <dt>Folder</dt>
            <dd className="path">{pathOf(summary.workingDirectory)}</dd>
          </>
        )}
      </dl>
      <div className="choices">
        <ConfigFields
          config={state.config}
          isRunning
          onChange={(config) => session.dispatch({ type: 'session/configChanged', config })}
        />
      </div>
      <SessionActions summary={summary} />
    </Section>
  );
}
