/** The agent is at work, as far as the host can be asked. */
import { useIsReachable, useOpenSession } from '../host/context.js';
import { activityOf } from '../model/status.js';
import { useStore } from '../model/store.js';

export function WorkingRow() {
  const session = useOpenSession();
  const { summary } = useStore(session.view).state;
  const isReachable = useIsReachable();
  if (!isReachable) return <p className="working">The host cannot be reached: what happens there is not known here.</p>;
  if (activityOf(summary) === 'needs-you') return <p className="working">Waiting for you</p>;
  return (
    <p className="working">
      <span className="pulse" aria-hidden="true" /> {summary.activity ?? 'Working'}
    </p>
  );
}
