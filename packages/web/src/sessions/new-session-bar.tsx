/** Below the first message: which agent and model answer it, and the button that starts. */
import type { AgentInfo } from '@atrium/protocol';
import { Icon } from '../ui/icons.js';
import type { NewSession } from './use-new-session.js';

interface Props {
  readonly form: NewSession;
  readonly agents: readonly AgentInfo[];
  readonly isEmpty: boolean;
}

export function NewSessionBar({ form, agents, isEmpty }: Props) {
  const models = form.agent?.models ?? [];
  return (
    <div className="compose-bar">
      <div className="compose-choices">
        <select
          className="bare"
          aria-label="Agent"
          title={form.agent?.description ?? 'Who does the work'}
          value={form.agent?.provider ?? ''}
          onChange={({ target }) => form.chooseAgent(target.value)}
        >
          {agents.length === 0 && <option value="">No agent</option>}
          {agents.map(({ provider, displayName }) => (
            <option key={provider} value={provider}>
              {displayName}
            </option>
          ))}
        </select>
        {models.length > 0 && (
          <select
            className="bare"
            aria-label="Model"
            value={form.model}
            onChange={({ target }) => form.chooseModel(target.value)}
          >
            <option value="">Default model</option>
            {models.map(({ id, name }) => (
              <option key={id} value={id}>
                {name}
              </option>
            ))}
          </select>
        )}
      </div>
      <button type="submit" className="primary small" disabled={isEmpty || form.isBusy}>
        <Icon name="send" /> {form.isBusy ? 'Starting' : 'Start'}
      </button>
    </div>
  );
}
