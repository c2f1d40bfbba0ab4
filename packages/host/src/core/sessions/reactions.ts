/** What follows from an accepted action: decided here as data, done by the session. */
import type { Customization, PendingMessage, SessionState, StateAction } from '@atrium/protocol';
import type { Step } from '../channels/channel.js';

export type Reaction =
  /** Actions that were held back for the end of the turn are applied now. */
  | { readonly kind: 'release-held' }
  /** The first waiting message becomes the next turn. */
  | { readonly kind: 'start-queued'; readonly message: PendingMessage }
  /** The agent gets to work, once the turn is stored. */
  | { readonly kind: 'run-turn'; readonly turnId: string }
  /** The agent stops, once the end of the turn is stored. */
  | { readonly kind: 'stop-turn'; readonly turnId: string }
  /** The agent's own history is cut too. */
  | { readonly kind: 'truncate-agent'; readonly turnId: string | undefined }
  /** A customization is published anew, because something inside of it changed. */
  | { readonly kind: 'update-customization'; readonly customization: Customization }
  /** The state is archived with this tick. */
  | { readonly kind: 'archive' };

export function reactionsTo({ envelope, before, after }: Step<SessionState>): Reaction[] {
  const { action } = envelope;
  const ended =
    before.activeTurn && before.activeTurn !== after.activeTurn && before.activeTurn.id !== after.activeTurn?.id;
  const reactions: Reaction[] = [];
  if (before.activeTurn && ended) reactions.push({ kind: 'stop-turn', turnId: before.activeTurn.id });
  if (ended || before.turns !== after.turns) reactions.push({ kind: 'archive' });
  if (action.type === 'session/truncated' && before !== after) {
    reactions.push({ kind: 'truncate-agent', turnId: action.turnId });
  }
  if (ended) reactions.push({ kind: 'release-held' });
  if (action.type === 'session/turnStarted') reactions.push({ kind: 'run-turn', turnId: action.turnId });
  const container = containerOfToggled(action, after);
  if (container) reactions.push({ kind: 'update-customization', customization: container });
  const next = nextQueued(action.type, after);
  if (next) reactions.push({ kind: 'start-queued', message: next });
  return reactions;
}

/** The queue moves when a turn completes, and when something joins it while the session is idle. */
function nextQueued(type: string, state: SessionState): PendingMessage | undefined {
  const moves = type === 'session/turnComplete' || type === 'session/pendingMessageSet' || type === 'session/ready';
  const idle = !state.activeTurn && state.lifecycle === 'ready';
  return moves && idle ? state.queuedMessages?.[0] : undefined;
}

/** Reducers toggle containers only. When the toggled one is a server inside, its container says so. */
function containerOfToggled(action: StateAction, { customizations }: SessionState): Customization | undefined {
  if (action.type !== 'session/customizationToggled') return undefined;
  const { id, enabled } = action;
  const container = customizations?.find(({ children }) => children?.some((child) => child.id === id));
  if (!container || customizations?.some((entry) => entry.id === id)) return undefined;
  const children = container.children?.map((child) => (child.id === id ? { ...child, enabled } : child));
  return { ...container, ...(children && { children }) };
}
