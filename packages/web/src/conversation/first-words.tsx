/** An empty conversation, which says what can be done with it. */
import type { SessionState } from '@atrium/protocol';
import { pathOf } from '../model/format.js';

export function FirstWords({ state }: { readonly state: SessionState }) {
  const folder = state.summary.workingDirectory;
  return (
    <div className="empty">
      <h2>Nothing has been said yet</h2>
      <p>
        {folder ? (
          <>
            The agent works in <code>{pathOf(folder)}</code>.{' '}
          </>
        ) : null}
        It asks before it changes anything, unless you allow it to go ahead in the details.
      </p>
      <ul className="tips">
        <li>
          <kbd>Enter</kbd> sends. While it works, <kbd>Enter</kbd> queues a message and <kbd>Ctrl</kbd> <kbd>Enter</kbd>{' '}
          steers it.
        </li>
        <li>Open this session on another device: both see every word and either can answer.</li>
        <li>
          <kbd>Ctrl</kbd> <kbd>K</kbd> finds every command and session.
        </li>
      </ul>
    </div>
  );
}
