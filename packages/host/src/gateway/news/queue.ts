/** The queue of a session, as far as providers have to mind it. */
import type { SessionState } from '@atrium/protocol';
import type { Session } from '../../core/sessions/session.js';

/** No turn, and nobody's message waits for one. Calls run in turns only. */
export function isIdle(state: SessionState): boolean {
  return !state.activeTurn && state.lifecycle === 'ready' && (state.queuedMessages ?? []).length === 0;
}

/** Messages of people stand before those of providers, whenever they came. */
export function putPeopleFirst(session: Session, ofProviders: ReadonlySet<string>): void {
  const queued = session.state.queuedMessages ?? [];
  const people = queued.filter(({ id }) => !ofProviders.has(id));
  const providers = queued.filter(({ id }) => ofProviders.has(id));
  const order = [...people, ...providers].map(({ id }) => id);
  if (order.some((id, index) => queued[index]?.id !== id))
    session.write({ type: 'session/queuedMessagesReordered', order });
}
