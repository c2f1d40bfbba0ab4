/** An MCP server: its state, and the buttons that start and stop it. */
import { isCustomizationEnabled, type McpServerCustomization, type McpServerState } from '@atrium/protocol/ahp-1';
import { useState } from 'react';
import { useOpenSession } from '../host/context.js';
import { SignIn } from '../sessions/sign-in.js';
import { Dialog } from '../ui/dialog.js';
import { tell } from '../ui/notices.js';

interface Props {
  readonly server: McpServerCustomization;
}

/** The word and the style of each state; the page shows an unknown state by its own name. */
const STATES: Readonly<Record<string, readonly [word: string, look: string]>> = {
  starting: ['Starting', 'loading'],
  ready: ['Ready', 'loaded'],
  authRequired: ['Wants a token', 'degraded'],
  error: ['Failed', 'error'],
  stopped: ['Stopped', ''],
};

export function ServerState({ server: { state } }: Props) {
  const [word, look] = STATES[state.kind] ?? [state.kind, ''];
  return <span className={`tag ${look}`}>{word}</span>;
}

const STOPPABLE: ReadonlySet<McpServerState['kind']> = new Set(['starting', 'ready', 'authRequired']);

export function ServerActions({ server }: Props) {
  const session = useOpenSession();
  const [isSigningIn, setSigningIn] = useState(false);
  const { id, name, state } = server;
  if (!isCustomizationEnabled(server)) return null;
  const isStoppable = STOPPABLE.has(state.kind);
  const done = () => {
    setSigningIn(false);
    tell(`Signed in to ${name}.`);
  };
  return (
    <>
      {state.kind === 'error' && <p className="problem">{state.error.message}</p>}
      {state.kind === 'authRequired' && state.description && <p className="hint">{state.description}</p>}
      <div className="buttons">
        {state.kind === 'authRequired' && (
          <button type="button" className="small primary" onClick={() => setSigningIn(true)}>
            Sign in<span className="visually-hidden"> to {name}</span>
          </button>
        )}
        {state.kind === 'starting' && state.blocking && (
          <button
            type="button"
            className="quiet small"
            title="The session goes on; its tools come when it has started"
            onClick={() => session.dispatch({ type: 'session/mcpServerBackgroundRequested', id })}
          >
            Do not wait for it
          </button>
        )}
        <button
          type="button"
          className="quiet small"
          onClick={() =>
            session.dispatch({
              type: isStoppable ? 'session/mcpServerStopRequested' : 'session/mcpServerStartRequested',
              id,
            })
          }
        >
          {isStoppable ? 'Stop' : 'Start'}
          <span className="visually-hidden"> {name}</span>
        </button>
      </div>
      {isSigningIn && state.kind === 'authRequired' && (
        <Dialog title="Sign in" onClose={() => setSigningIn(false)}>
          <SignIn needed={[state.resource]} onDone={done} />
        </Dialog>
      )}
    </>
  );
}
