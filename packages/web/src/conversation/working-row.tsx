/** The agent is at work. */
import { useOpenSession } from '../host/context.js';
import { activityOf } from '../model/status.js';
import { useStore } from '../model/store.js';

export function WorkingRow() {
  const session = useOpenSession();
  const { summary } = useStore(session.view).state;
  if (activityOf(summary) === 'needs-you') return <p className="working">Waiting for you</p>;
  return (
    <p className="working">
      <span className="pulse" aria-hidden="true" /> {summary.activity ?? 'Working'}
    </p>
  );
}
