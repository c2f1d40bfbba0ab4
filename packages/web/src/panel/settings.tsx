/** Model and configuration of the session, as far as they can still be changed. */
import type { SessionState } from '@atrium/protocol';
import { useId } from 'react';
import { useHost, useOpenSession } from '../host/context.js';
import { pathOf } from '../model/format.js';
import { isArchived } from '../model/status.js';
import { useStore } from '../model/store.js';
import { ConfigFields } from '../sessions/config-fields.js';
import { Section } from './section.js';

export function Settings({ state }: { readonly state: SessionState }) {
  const { link } = useHost();
  const session = useOpenSession();
  const id = useId();
  const { summary } = state;
  const agent = useStore(link.root).agents.find(({ provider }) => provider === summary.provider);
  const archived = isArchived(summary);
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
        {agent && agent.models.length > 0 && (
          <>
            <label htmlFor={id}>Model</label>
            <select
              id={id}
              value={summary.model?.id ?? ''}
              onChange={(event) =>
                session.dispatch({ type: 'session/modelChanged', model: { id: event.target.value } })
              }
            >
              {!summary.model && <option value="">Default</option>}
              {agent.models.map(({ id: model, name }) => (
                <option key={model} value={model}>
                  {name}
                </option>
              ))}
            </select>
          </>
        )}
        <ConfigFields
          config={state.config}
          isRunning
          onChange={(config) => session.dispatch({ type: 'session/configChanged', config })}
        />
      </div>
      <button
        type="button"
        className="small"
        onClick={() => session.dispatch({ type: 'session/isArchivedChanged', isArchived: !archived })}
      >
        {archived ? 'Take out of the archive' : 'Archive'}
      </button>
    </Section>
  );
}
