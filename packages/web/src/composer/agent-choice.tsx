/** The custom agent of the next turns, where the folder or a plugin brings any. */
import type { SessionState } from '@atrium/protocol';
import type { OpenSession } from '../host/open-session.js';
import { customAgents } from '../model/custom-agents.js';

interface Props {
  readonly session: OpenSession;
  readonly state: SessionState;
}

export function AgentChoice({ session, state }: Props) {
  const agents = customAgents(state.customizations);
  const chosen = state.summary.agent?.uri ?? '';
  if (agents.length === 0 && chosen === '') return null;
  const choose = (uri: string) =>
    session.dispatch({ type: 'session/agentChanged', ...(uri !== '' && { agent: { uri } }) });
  return (
    <select
      className="bare"
      aria-label="Custom agent"
      title={agents.find(({ uri }) => uri === chosen)?.description ?? 'A custom agent brings its own instructions'}
      value={chosen}
      onChange={({ target }) => choose(target.value)}
    >
      <option value="">No custom agent</option>
      {chosen !== '' && !agents.some(({ uri }) => uri === chosen) && <option value={chosen}>Gone agent</option>}
      {agents.map(({ uri, name }) => (
        <option key={uri} value={uri}>
          {name}
        </option>
      ))}
    </select>
  );
}
