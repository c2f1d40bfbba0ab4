/** The model of the next turns. */
import type { SessionState } from '@atrium/protocol';
import { useHost } from '../host/context.js';
import type { OpenSession } from '../host/open-session.js';
import { useStore } from '../model/store.js';

interface Props {
  readonly session: OpenSession;
  readonly state: SessionState;
}

export function ModelChoice({ session, state: { summary } }: Props) {
  const { link } = useHost();
  const agent = useStore(link.root).agents.find(({ provider }) => provider === summary.provider);
  const models = agent?.models ?? [];
  const chosen = summary.model?.id ?? '';
  if (models.length === 0) return null;
  return (
    <select
      className="bare"
      aria-label="Model"
      title="The model of the next turns"
      value={chosen}
      onChange={({ target }) => session.dispatch({ type: 'session/modelChanged', model: { id: target.value } })}
    >
      {chosen === '' && <option value="">Default model</option>}
      {chosen !== '' && !models.some(({ id }) => id === chosen) && <option value={chosen}>{chosen}</option>}
      {models.map(({ id, name }) => (
        <option key={id} value={id}>
          {name}
        </option>
      ))}
    </select>
  );
}
