/** Questions to people: those of a turn, and those that outlive turns. */
import type { SessionAction, SessionInputRequest, SessionInputResponseKind, SessionState } from '@atrium/protocol';
import type { Step } from '../channels/channel.js';
import type { InputOutcome } from '../contracts/agent.js';
import { CLIENT_GRACE_MS } from './limits.js';
import type { SessionOptions } from './session.js';
import type { TurnRunner } from './turn.js';
import { NO_CALL } from './waiters.js';

export async function askPerson(
  turn: TurnRunner,
  options: Pick<SessionOptions, 'clock' | 'watchers'>,
  request: SessionInputRequest,
): Promise<InputOutcome> {
  turn.interrupt();
  turn.write({ type: 'session/inputRequested', request });
  cancelUnanswerable(turn, options, request.id);
  return turn.waitFor([NO_CALL], (_state, step) => {
    const action = step?.action;
    if (action?.type !== 'session/inputCompleted' || action.requestId !== request.id) return undefined;
    const drafts = step?.before.inputRequests?.find(({ id }) => id === request.id)?.answers;
    return { response: action.response, answers: { ...drafts, ...action.answers } };
  });
}

/** Clients of the oldest wire cannot be asked. With nobody else there, the turn would wait for ever. */
function cancelUnanswerable(
  turn: TurnRunner,
  options: Pick<SessionOptions, 'clock' | 'watchers'>,
  requestId: string,
): void {
  options.clock.after(CLIENT_GRACE_MS, () => {
    const isOpen = turn.session.state.inputRequests?.some(({ id }) => id === requestId);
    if (!isOpen || !turn.isActive) return;
    if (options.watchers.mayBeAnswered(turn.session.uri)) return cancelUnanswerable(turn, options, requestId);
    turn.write({ type: 'session/inputCompleted', requestId, response: 'cancel' });
  });
}

type Answered = (response: SessionInputResponseKind, answers: InputOutcome['answers']) => void;

export interface StandingRequestsOptions {
  write(action: SessionAction): void;
  state(): SessionState;
  /** Whether somebody watches who cannot be asked questions. */
  isNoteNeeded(): boolean;
}

interface Standing {
  readonly request: SessionInputRequest;
  readonly answered: Answered;
  /** For those who cannot be asked. */
  readonly note: string;
  isNoted: boolean;
}

/**
 * Questions to the people in a session that are not part of a turn. A turn takes all open questions with it when it
 * ends; the host asks these again until a person answers, or the part that asked withdraws them. Clients that cannot show
 * questions get a note in the turn instead. The model does not see that note.
 */
export class StandingRequests {
  readonly #options: StandingRequestsOptions;
  readonly #open = new Map<string, Standing>();
  /** The open requests of the session when all of ours were last seen among them. */
  #complete: SessionState['inputRequests'];

  constructor(options: StandingRequestsOptions) {
    this.#options = options;
  }

  /** Asking again under the same id changes the question. The returned function takes it back. */
  ask(request: SessionInputRequest, answered: Answered, note = request.message ?? ''): () => void {
    const standing = { request, answered, note, isNoted: false };
    this.#open.set(request.id, standing);
    this.#options.write({ type: 'session/inputRequested', request });
    this.#tellOthers(standing);
    return () => {
      if (this.#open.get(request.id) !== standing) return;
      this.#open.delete(request.id);
      this.#options.write({ type: 'session/inputCompleted', requestId: request.id, response: 'cancel' });
    };
  }

  /** Looks at every action: one may be an answer, or have swept a question away. */
  observe({ action, before, after }: Step<SessionState>): void {
    if (this.#open.size === 0) return;
    if (action.type === 'session/inputCompleted') {
      const { requestId, response, answers } = action;
      const drafts = before.inputRequests?.find(({ id }) => id === requestId)?.answers;
      this.#answered(requestId, response, { ...drafts, ...answers });
    }
    if (action.type === 'session/turnStarted') for (const standing of this.#open.values()) this.#tellOthers(standing);
    if (after.inputRequests !== this.#complete) this.#askAgain(after);
  }

  /** When a session enters memory, what was asked before has nobody any more who waits for the answer. */
  withdrawStale({ inputRequests = [], activeTurn }: SessionState): void {
    if (activeTurn) return;
    for (const { id } of inputRequests)
      if (!this.#open.has(id))
        this.#options.write({ type: 'session/inputCompleted', requestId: id, response: 'cancel' });
  }

  #answered(id: string, ...outcome: Parameters<Answered>): void {
    const standing = this.#open.get(id);
    this.#open.delete(id);
    standing?.answered(...outcome);
  }

  #askAgain({ inputRequests }: SessionState): void {
    const asked = new Set(inputRequests?.map(({ id }) => id));
    const missing = [...this.#open.values()].filter(({ request }) => !asked.has(request.id));
    if (missing.length === 0) this.#complete = inputRequests;
    for (const { request } of missing) this.#options.write({ type: 'session/inputRequested', request });
  }

  /** Within a turn at once, otherwise at the head of the next one. */
  #tellOthers(standing: Standing): void {
    const turnId = this.#options.state().activeTurn?.id;
    if (standing.isNoted || turnId === undefined || !this.#options.isNoteNeeded()) return;
    standing.isNoted = true;
    const part = { kind: 'systemNotification' as const, content: standing.note };
    this.#options.write({ type: 'session/responsePart', turnId, part });
  }
}
