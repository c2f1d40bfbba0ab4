/** A session whose agent is still starting, or did not. */
import type { SessionState } from '@atrium/protocol';
import { hashOf } from '../host/router.js';

export function CreationNote({ state }: { readonly state: SessionState }) {
  if (state.lifecycle === 'ready') return null;
  if (state.lifecycle === 'creating')
    return (
      <p className="strip" role="status">
        The agent is starting. You can write already.
      </p>
    );
  return (
    <div className="strip problem" role="alert">
      <b>The agent could not be started.</b> {state.creationError?.message}{' '}
      <a href={hashOf({ at: 'new' })}>Start another session</a>, perhaps with another agent or folder.
    </div>
  );
}
