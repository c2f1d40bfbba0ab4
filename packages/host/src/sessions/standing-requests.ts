/**
 * Questions to the people in a session that are not part of a turn. A turn takes all open questions with it when it
 * ends; these are put again until somebody answers or the asker has no more use for them.
 */
import type { SessionAction, SessionInputRequest, SessionInputResponseKind, SessionState } from '@atrium/protocol';
import type { Step } from '../channels/channel.js';

interface Standing {
  readonly request: SessionInputRequest;
  readonly answered: (response: SessionInputResponseKind) => void;
}

export class StandingRequests {
  readonly #open = new Map<string, Standing>();

  constructor(private readonly write: (action: SessionAction) => void) {}

  /** The returned function takes the question back. */
  ask(request: SessionInputRequest, answered: (response: SessionInputResponseKind) => void): () => void {
    this.#open.set(request.id, { request, answered });
    this.write({ type: 'session/inputRequested', request });
    return () => {
      if (this.#open.delete(request.id))
        this.write({ type: 'session/inputCompleted', requestId: request.id, response: 'cancel' });
    };
  }

  /** Looks at every action: one may be an answer, or have swept a question away. */
  observe({ envelope, after }: Step<SessionState>): void {
    if (this.#open.size === 0) return;
    const { action } = envelope;
    if (action.type === 'session/inputCompleted') {
      const standing = this.#open.get(action.requestId);
      this.#open.delete(action.requestId);
      standing?.answered(action.response);
    }
    const asked = new Set(after.inputRequests?.map(({ id }) => id));
    for (const [id, { request }] of this.#open)
      if (!asked.has(id)) this.write({ type: 'session/inputRequested', request });
  }
}
