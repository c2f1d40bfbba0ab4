/** Below the text: who answers and how full its memory is at the left, what can be done at the right. */
import type { SessionState } from '@atrium/protocol';
import type { OpenSession } from '../host/open-session.js';
import { stopTurn } from '../host/turns.js';
import { Icon } from '../ui/icons.js';
import { AgentChoice } from './agent-choice.js';
import { ContextMeter } from './context-meter.js';
import { ModelChoice } from './model-choice.js';

interface Props {
  readonly session: OpenSession;
  readonly state: SessionState;
  readonly isEmpty: boolean;
  readonly isEditing: boolean;
  readonly onSend: (isSteering: boolean) => void;
}

export function ComposerBar({ session, state, isEmpty, isEditing, onSend }: Props) {
  const isWorking = state.activeTurn !== undefined;
  return (
    <div className="compose-bar">
      <div className="compose-choices">
        <ModelChoice session={session} state={state} />
        <AgentChoice session={session} state={state} />
        <ContextMeter state={state} />
      </div>
      {isWorking && !isEmpty && !isEditing && (
        <button type="button" className="small" title="Ctrl+Enter" onClick={() => onSend(true)}>
          Steer
        </button>
      )}
      {isWorking && (
        <button type="button" className="small stop" title="Alt+." onClick={() => stopTurn(session)}>
          <Icon name="stop" /> Stop
        </button>
      )}
      {!(isWorking && isEmpty) && (
        <button
          type="button"
          className="primary small send"
          title="Enter"
          disabled={isEmpty}
          onClick={() => onSend(false)}
        >
          <Icon name="send" /> {isWorking && !isEditing ? 'Queue' : 'Send'}
        </button>
      )}
    </div>
  );
}
