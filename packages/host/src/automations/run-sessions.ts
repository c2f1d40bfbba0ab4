/**
 * What a run does: it creates a session like any other, sends the message of its automation as a turn, and follows that
 * turn to its end. It answers no questions and approves no tools; people do that, as in every session.
 */
import { STORE_RETRY_MS } from '@atrium/core/channels/limits.js';
import type { Writer } from '@atrium/core/channels/writer.js';
import type { AgentBackend } from '@atrium/core/contracts/agent.js';
import type { Session } from '@atrium/core/sessions/session.js';
import type { SessionObserver, SessionStep } from '@atrium/core/sessions/session-observer.js';
import type { Sessions } from '@atrium/core/sessions/sessions.js';
import type { Clock } from '@atrium/core/util/clock.js';
import type { Logger } from '@atrium/core/util/logger.js';
import type {
  AutomationDefinition,
  AutomationRunState,
  ErrorInfo,
  Message,
  MessageAttachment,
  Turn,
} from '@atrium/protocol/ahp-1';
import type { Run, Runs } from './runs.js';

export interface RunSessionsOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly writer: Writer;
  readonly sessions: Pick<Sessions, 'create' | 'open' | 'has' | 'inMemory'>;
  readonly runs: Pick<Runs, 'get' | 'all'>;
  /** How many runs work at once. */
  readonly runsAtOnce: number;
  definitionOf(automation: string): AutomationDefinition | undefined;
  /** Throws when an agent needs a token that no client has provided. */
  assertUsable(agent: AgentBackend): void;
}

const CUT_OFF: ErrorInfo = {
  errorType: 'host-restarted',
  message: 'The host stopped while this run was going on. It is not started again by itself.',
};
const NOT_BEGUN: ErrorInfo = {
  errorType: 'host-restarted',
  message: 'The host stopped before this run had begun: its message was not sent.',
};
const DISPOSED: ErrorInfo = { errorType: 'session-disposed', message: 'The session of this run was disposed.' };
const NOT_STORED: ErrorInfo = { errorType: 'not-stored', message: 'The host could not store how this run began.' };

export class RunSessions {
  readonly #options: RunSessionsOptions;
  /** Runs that a person stops, so that their end is expected. */
  readonly #cancelled = new WeakSet<Run>();
  /** Stored runs that wait for a free place, the oldest first. */
  readonly #waiting = new Set<Run>();
  #isStopping = false;

  constructor(options: RunSessionsOptions) {
    this.#options = options;
  }

  /** Queues a stored run. */
  line(run: Run): void {
    this.#waiting.add(run);
    this.beginWaiting();
  }

  /** Begins waiting runs in order, as many as may work besides those that already do. */
  beginWaiting(): void {
    if (this.#isStopping) return;
    for (const run of this.#waiting) {
      if (run.isOver) this.#waiting.delete(run);
      else if (this.#working() < this.#options.runsAtOnce) this.#begin(run);
      else return;
    }
  }

  #working(): number {
    const isAtWork = (run: Run) => !run.isOver && !this.#waiting.has(run) && !this.#asksPerson(run);
    return [...this.#options.runs.all()].filter(isAtWork).length;
  }

  /** A run may wait for a person over a weekend; other runs do not wait for it meanwhile. */
  #asksPerson({ session }: Run): boolean {
    const { inputNeeded = [] } = this.#options.sessions.inMemory.get(session)?.state ?? {};
    return inputNeeded.some(({ kind }) => kind !== 'toolClientExecution');
  }

  #begin(run: Run): void {
    this.#waiting.delete(run);
    const { automation } = run.state;
    this.#options.logger.log('info', 'an automation runs', { automation, run: run.uri });
    this.#create(run).catch((error) => {
      this.#options.logger.log('warn', 'an automation could not start', { run: run.uri, error: String(error) });
      this.#end(run, { status: 'failed', error: failureOf(error) });
    });
  }

  /** Ends a run that no turn ends. If that cannot be stored, tries again, because nothing else would. */
  #end(run: Run, outcome: Parameters<Run['end']>[0]): void {
    const { writer, clock } = this.#options;
    if (run.isOver) return;
    run.end(outcome);
    writer.afterFailure(() => clock.after(STORE_RETRY_MS, () => this.#end(run, outcome)));
  }

  async #create(run: Run): Promise<void> {
    const { sessions, assertUsable } = this.#options;
    const { automation } = run.state;
    const definition = this.#options.definitionOf(automation);
    if (!definition || run.isOver || this.#isStopping) return;
    const { provider, model, agent, workingDirectories, config } = definition.session;
    const params = {
      channel: run.session,
      ...(provider !== undefined && { provider }),
      ...(model && { model }),
      ...(agent && { agent }),
      ...(workingDirectories && { workingDirectories }),
      ...(config && { config }),
    };
    const origin = { kind: 'automation', automation, run: run.uri } as const;
    await sessions.create(params, { clientId: undefined, assertUsable, origin, title: definition.title });
    if (this.#isStopping) return;
    const session = await sessions.open(run.session);
    if (!session) return this.#end(run, { status: 'cancelled', error: DISPOSED });
    run.addSession(run.session);
    this.#startWhenReady(run, session);
  }

  /** Does nothing until the session's agent has opened; another call follows then. */
  #startWhenReady(run: Run, session: Session): void {
    const { lifecycle, creationError } = session.state;
    if (run.lifecycle.status !== 'pending' || !run.state.sessions.includes(session.uri)) return;
    if (lifecycle === 'failed') {
      run.end({ status: 'failed', error: creationError ?? { errorType: 'agent-failed', message: 'No session.' } });
    }
    if (lifecycle === 'ready') this.#start(run, session);
  }

  /** One commit holds the start of the run and of its turn, so that neither ever exists without the other. */
  #start(run: Run, session: Session): void {
    const { clock, writer } = this.#options;
    const definition = this.#options.definitionOf(run.state.automation);
    if (!definition) return;
    run.started();
    const startedAt = new Date(clock.now()).toISOString();
    const message = messageOf(definition, run.state);
    session.chat.write({ type: 'chat/turnStarted', turnId: run.turnId, startedAt, message });
    writer.afterFailure(() =>
      clock.after(STORE_RETRY_MS, () => this.#end(run, { status: 'failed', error: NOT_STORED })),
    );
  }

  /** Stops a run. If its turn is running, the end of the turn ends the run. */
  cancel(run: Run): void {
    this.#cancelled.add(run);
    const chat = this.#options.sessions.inMemory.get(run.session)?.chat;
    if (chat?.state.activeTurn?.id === run.turnId)
      chat.write({ type: 'chat/turnCancelled', turnId: run.turnId, duration: 0 });
    run.end({ status: 'cancelled' });
  }

  /** Attached to every session, but acts only in those of runs. */
  readonly attach = (session: Session): SessionObserver => {
    const { origin } = session.state;
    const runOf = () => (origin?.kind === 'automation' ? this.#options.runs.get(origin.run) : undefined);
    return {
      observe: (step) => {
        const run = runOf();
        if (run && !run.isOver) this.#observe(run, session, step);
        else if (run && isResumption(run, step)) run.resumed();
      },
      close: async () => {
        // The session may only have been unloaded.
        if (this.#options.sessions.has(session.uri)) return;
        const run = runOf();
        if (run) this.#end(run, { status: 'cancelled', error: DISPOSED });
        run?.removeSession(session.uri);
      },
    };
  };

  #observe(run: Run, session: Session, step: SessionStep): void {
    const { type } = step.action;
    if (type === 'session/inputNeededSet') this.#options.writer.afterCommit(() => this.beginWaiting());
    if (type === 'session/ready' || type === 'session/creationFailed') return this.#startWhenReady(run, session);
    if (!step.chat || step.before.activeTurn?.id !== run.turnId || step.after.activeTurn?.id === run.turnId) return;
    const turn = step.after.turns.findLast(({ id }) => id === run.turnId);
    // Only a session that is being disposed cancels its turn by itself.
    const isDisposed = type === 'chat/turnCancelled' && !step.origin && !this.#cancelled.has(run);
    run.end(isDisposed ? { status: 'cancelled', error: DISPOSED } : outcomeOf(turn));
  }

  /** Records that the end of the host cut off a run. It is not started again, because nobody knows how far it got. */
  afterCrash(run: Run): void {
    const { sessions } = this.#options;
    const isThere = sessions.has(run.session);
    if (!run.isOver) {
      if (isThere && !run.state.sessions.includes(run.session)) run.addSession(run.session);
      run.end({ status: 'failed', error: run.lifecycle.status === 'running' ? CUT_OFF : NOT_BEGUN });
    }
    for (const session of run.state.sessions) if (!sessions.has(session)) run.removeSession(session);
  }

  /** Begins no more runs. Recorded runs that have not begun are reported after the next start. */
  stop(): void {
    this.#isStopping = true;
  }
}

/** Whether a step resumes the turn with which a run failed. */
function isResumption(run: Run, { chat, action, after }: SessionStep): boolean {
  if (run.lifecycle.status !== 'failed' || !chat || action.type !== 'chat/turnResume') return false;
  return action.turnId === run.turnId && after.activeTurn?.id === run.turnId;
}

function outcomeOf(turn: Turn | undefined) {
  const usage = turn?.usage && { usage: turn.usage };
  if (turn?.state === 'complete') return { status: 'completed', ...usage } as const;
  if (turn?.state !== 'error') return { status: 'cancelled', ...usage } as const;
  const part = turn.responseParts.findLast(({ kind }) => kind === 'error');
  const error = part?.kind === 'error' ? part.error : { errorType: 'agent-failed', message: 'The turn failed.' };
  return { status: 'failed', error, ...usage } as const;
}

function failureOf(error: unknown): ErrorInfo {
  return { errorType: 'session-failed', message: error instanceof Error ? error.message : String(error) };
}

/** The message of the definition; the model also reads the event that caused it. */
function messageOf({ message }: AutomationDefinition, { origin }: AutomationRunState): Message {
  const event = origin.kind === 'trigger' ? origin.event : undefined;
  if (event === undefined) return message;
  const text = `This message was sent by an automation, because of this event: ${JSON.stringify(event)}`;
  const attachment: MessageAttachment = { type: 'simple', label: 'Event', modelRepresentation: text };
  return { ...message, attachments: [...(message.attachments ?? []), attachment] };
}
