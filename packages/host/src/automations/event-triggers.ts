/**
 * Starts runs because of events: turns that end, files that change, events of providers. An automation does not react
 * to its own sessions, chains of automations that start each other have a limit, and events start only so many runs an
 * hour.
 */
import type { Session } from '@atrium/core/sessions/session.js';
import type { SessionStep } from '@atrium/core/sessions/session-observer.js';
import type { Clock } from '@atrium/core/util/clock.js';
import type { Logger } from '@atrium/core/util/logger.js';
import type { AutomationTriggerOrigin, SessionState, Turn } from '@atrium/protocol/ahp-1';
import type { AutomationCatalogue } from './catalogue.js';
import { type HostEvent, isMeant, PUSH_EVENT, TURN_EVENT } from './event-types.js';
import { FileTriggers } from './file-triggers.js';
import {
  CHAIN_MAX,
  EVENT_RUNS_PER_HOUR_MAX,
  EVENT_RUNS_WITHIN_MS,
  EVENT_TEXT_MAX_CHARACTERS,
  FILES_QUIET_MS,
} from './limits.js';
import type { Runs } from './runs.js';
import type { Skip } from './skipped.js';

export interface EventTriggersOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly catalogue: Pick<AutomationCatalogue, 'entries'>;
  readonly runs: Pick<Runs, 'get' | 'of' | 'active'>;
  /** The state of a loaded session. */
  sessionState(uri: string): SessionState | undefined;
  /** Starts a run, or records why it does not. */
  due(automation: string, origin: AutomationTriggerOrigin, chain: number): void;
  skipped(skip: Skip): void;
}

/** An event that a provider pushed. */
interface Pushed {
  readonly session: string;
  readonly provider: string;
  readonly stream: string;
  readonly text: string;
}

export class EventTriggers {
  readonly #options: EventTriggersOptions;
  readonly #files: FileTriggers;
  #isRunning = false;

  constructor(options: EventTriggersOptions) {
    this.#options = options;
    const { clock, logger } = options;
    this.#files = new FileTriggers({
      ...{ clock, logger },
      isOwn: (automation) => this.#hasJustRun(automation),
      changed: (automation, triggerId, event) => this.#happened(automation, triggerId, event),
    });
  }

  start(): void {
    this.#isRunning = true;
    this.sync();
  }

  stop(): void {
    this.#isRunning = false;
    this.#files.close();
  }

  /** Definitions were added, removed or changed. */
  sync(): void {
    if (this.#isRunning) this.#files.sync(this.#options.catalogue.entries);
  }

  /** Resolves when all folders are watched. */
  watching(): Promise<void> {
    return this.#files.watching();
  }

  /** Watches for turns that end. */
  observe(session: Session, step: SessionStep): void {
    if (!step.chat || !step.before.activeTurn || !this.#isRunning) return;
    const { id } = step.before.activeTurn;
    const turn = step.after.activeTurn?.id === id ? undefined : step.after.turns.findLast((other) => other.id === id);
    // The work of a worker is part of the turn that it works for.
    if (!turn || step.after.origin?.kind === 'tool') return;
    const { title, provider, workingDirectories } = session.state;
    const error = errorOf(turn);
    this.#trigger({
      type: TURN_EVENT,
      event: TURN_ENDS[turn.state],
      facts: {
        ...{ session: session.uri, title, provider, turnId: id },
        ...(workingDirectories?.[0] !== undefined && { folder: workingDirectories[0] }),
        ...(error !== undefined && { error }),
      },
      by: this.#startedBy(session.state),
    });
  }

  pushed({ session, provider, stream, text }: Pushed): void {
    const facts = { session, provider, stream, text: text.slice(0, EVENT_TEXT_MAX_CHARACTERS) };
    this.#trigger({
      type: PUSH_EVENT,
      event: 'pushed',
      facts,
      by: this.#startedBy(this.#options.sessionState(session)),
    });
  }

  #trigger(event: HostEvent): void {
    if (!this.#isRunning) return;
    for (const { resource, definition } of [...this.#options.catalogue.entries]) {
      const trigger = definition.triggers.find((each) => each.kind === 'event' && isMeant(each, event));
      if (trigger && definition.enabled && event.by?.automation !== resource)
        this.#happened(resource, trigger.id, event);
    }
  }

  #happened(automation: string, triggerId: string, { type, event, facts, by }: HostEvent): void {
    // A watch may outlive its automation for a moment, or belong to one that could not be stored.
    const isThere = this.#options.catalogue.entries.some(({ resource }) => resource === automation);
    if (!this.#isRunning || !isThere) return;
    const origin: AutomationTriggerOrigin = { kind: 'trigger', triggerId, event: { type, event, ...facts } };
    const chain = by ? by.chain + 1 : 0;
    const reason = chain > CHAIN_MAX ? 'chain' : this.#isTooOften(automation) ? 'rate' : undefined;
    if (reason) this.#options.skipped({ automation, origin, reason, count: 1 });
    else this.#options.due(automation, origin, chain);
  }

  /** Counts runs in the history, so that a restart does not reset the limit. */
  #isTooOften(automation: string): boolean {
    const { runs, clock } = this.#options;
    const since = clock.now() - EVENT_RUNS_WITHIN_MS;
    const recent = runs.of(automation).filter((run) => run.isOfEvent && run.createdAt > since);
    return recent.length >= EVENT_RUNS_PER_HOUR_MAX;
  }

  /** Changes by its own run may be noticed a moment after the run has ended. */
  #hasJustRun(automation: string): boolean {
    const { runs, clock } = this.#options;
    if (runs.active(automation)) return true;
    const [last] = runs.of(automation).filter(({ state }) => state.sessions.length > 0);
    return clock.now() - Date.parse(last?.lifecycle.completedAt ?? '') < FILES_QUIET_MS;
  }

  #startedBy(session: SessionState | undefined): HostEvent['by'] {
    if (session?.origin?.kind !== 'automation') return undefined;
    const { automation, run } = session.origin;
    return { automation, chain: this.#options.runs.get(run)?.facts.chain ?? 0 };
  }
}

const TURN_ENDS = { complete: 'completed', error: 'failed', cancelled: 'cancelled' } as const;

function errorOf({ state, responseParts }: Turn): string | undefined {
  const part = state === 'error' ? responseParts.findLast(({ kind }) => kind === 'error') : undefined;
  return part?.kind === 'error' ? part.error.message.slice(0, EVENT_TEXT_MAX_CHARACTERS) : undefined;
}
