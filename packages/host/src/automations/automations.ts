/**
 * Automations: messages that the host sends by itself, on a schedule, on an event, or at a client's request. Start
 * reading here; `catalogue.ts` has the definitions, `runs.ts` the records of runs, and `run-sessions.ts` what a run
 * does.
 */
import type { OpenChannel } from '@atrium/core/channels/open-channel.js';
import type { Writer } from '@atrium/core/channels/writer.js';
import type { AgentBackend } from '@atrium/core/contracts/agent.js';
import { RequestError } from '@atrium/core/contracts/request-error.js';
import type { Log } from '@atrium/core/log/log.js';
import type { Service, ServiceRequests } from '@atrium/core/sessions/service.js';
import type { Session } from '@atrium/core/sessions/session.js';
import type { SessionObserver } from '@atrium/core/sessions/session-observer.js';
import type { Sessions } from '@atrium/core/sessions/sessions.js';
import type { Clock } from '@atrium/core/util/clock.js';
import type { Logger } from '@atrium/core/util/logger.js';
import {
  AUTOMATIONS_CHANNEL,
  type AutomationCapabilities,
  type AutomationEntry,
  type AutomationTriggerOrigin,
  ErrorCode,
  type FetchAutomationRunsParams,
  type RunAutomationParams,
} from '@atrium/protocol/ahp-1';
import { AutomationCatalogue } from './catalogue.js';
import { EventTriggers } from './event-triggers.js';
import { eventRefusal, triggerDefinitions } from './event-types.js';
import {
  REQUEST_ID_MAX_CHARACTERS,
  RUN_HISTORY_LIMIT,
  RUNS_AT_ONCE,
  RUNS_PAGE,
  SCHEDULE_MIN_INTERVAL_MINUTES,
} from './limits.js';
import { RunSessions } from './run-sessions.js';
import { type NewRun, type Run, Runs } from './runs.js';
import { Scheduler } from './scheduler.js';
import { noteSkipped, SkippedEvents } from './skipped.js';

/** The part of the host that automations use. */
export interface AutomationsHost {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly log: Log;
  readonly writer: Writer;
  readonly sessions: Pick<Sessions, 'create' | 'open' | 'has' | 'inMemory'>;
  readonly agents: readonly AgentBackend[];
  /** Throws when an agent needs a token that no client has provided. */
  assertUsable(agent: AgentBackend): void;
  /** Ends all subscriptions to a channel that no longer exists. */
  unsubscribeAll(uri: string): void;
  /** A run ended in this tick. May be called more than once. */
  runEnded(run: Run, title: string): void;
}

export interface AutomationsOptions {
  /** How many runs of all automations work at once; further ones wait. */
  readonly runsAtOnce?: number | undefined;
}

const CAPABILITIES: AutomationCapabilities = {
  create: {},
  schedules: { minIntervalMinutes: SCHEDULE_MIN_INTERVAL_MINUTES },
  runCancellation: {},
  runHistoryLimit: RUN_HISTORY_LIMIT,
};

export class Automations implements Service {
  /** For the catalogue and the runs; an automation itself is not a channel. */
  readonly scheme = 'ahp-automation';
  readonly greeting = { automations: CAPABILITIES };
  readonly requests: ServiceRequests = {
    listAutomationTriggerDefinitions: () => ({ items: triggerDefinitions() }),
    runAutomation: (_caller, params) => this.#runNow(params),
    fetchAutomationRuns: (_caller, params) => this.#fetchRuns(params),
  };
  readonly #host: AutomationsHost;
  readonly #runs: Runs;
  readonly #catalogue: AutomationCatalogue;
  readonly #sessions: RunSessions;
  readonly #scheduler: Scheduler;
  readonly #events: EventTriggers;
  readonly #skipped: SkippedEvents;

  constructor(host: AutomationsHost, { runsAtOnce = RUNS_AT_ONCE }: AutomationsOptions = {}) {
    this.#host = host;
    const { clock, logger, log, writer, sessions } = host;
    this.#runs = new Runs({
      ...{ clock, log, writer },
      changed: (run) => {
        this.#catalogue.refresh(run.state.automation);
        if (!run.isOver) return;
        host.runEnded(run, this.#catalogue.find(run.state.automation)?.definition.title ?? '');
        writer.afterCommit(() => this.#sessions.beginWaiting());
      },
      cancelRequested: (run) => this.#sessions.cancel(run),
      gone: (uri) => host.unsubscribeAll(uri),
    });
    this.#catalogue = new AutomationCatalogue({
      ...{ clock, log, writer, runs: this.#runs },
      agents: () => host.agents.map(({ info }) => info),
      eventRefusal,
      changed: () => {
        this.#scheduler.check();
        this.#events.sync();
      },
      removing: (automation) => this.#remove(automation),
    });
    this.#sessions = new RunSessions({
      ...{ clock, logger, writer, sessions, runs: this.#runs, runsAtOnce },
      definitionOf: (automation) => this.#catalogue.find(automation)?.definition,
      assertUsable: (agent) => host.assertUsable(agent),
    });
    this.#skipped = new SkippedEvents({
      ...{ clock, writer, runs: this.#runs },
      has: (automation) => this.#catalogue.find(automation) !== undefined,
    });
    this.#scheduler = new Scheduler({
      ...{ clock, logger, catalogue: this.#catalogue },
      due: (automation, origin) => this.#due(automation, origin),
      missed: (times) => noteSkipped(this.#runs, clock, { ...times, reason: 'missed' }),
    });
    this.#events = new EventTriggers({
      ...{ clock, logger, catalogue: this.#catalogue, runs: this.#runs },
      due: (automation, origin, chain) => this.#due(automation, origin, chain),
      sessionState: (uri) => sessions.inMemory.get(uri)?.state,
      skipped: (skip) => this.#skipped.add(skip),
    });
  }

  /** Follows runs first, before their turns become events for other automations. */
  readonly attach = (session: Session): SessionObserver => {
    const run = this.#sessions.attach(session);
    return {
      ...run,
      observe: (step) => {
        run.observe?.(step);
        this.#events.observe(session, step);
      },
    };
  };

  /** Resolves when all folders that automations wait for are watched. */
  watching(): Promise<void> {
    return this.#events.watching();
  }

  /** A provider pushed an event to a session. */
  pushed(event: Parameters<EventTriggers['pushed']>[0]): void {
    this.#events.pushed(event);
  }

  /** How many automations wait for a time or an event. */
  get awaited(): number {
    return this.#catalogue.entries.filter(({ definition }) => definition.enabled && definition.triggers.length > 0)
      .length;
  }

  open(uri: string): OpenChannel | undefined {
    return uri === AUTOMATIONS_CHANNEL ? this.#catalogue : this.#runs.get(uri);
  }

  /** The records hold everything needed; an archive only lets the log drop the entries. */
  async storeArchive(uri: string): Promise<boolean> {
    const { writer, log } = this.#host;
    const open = this.open(uri);
    if (!open) {
      await log.forget(uri);
      return true;
    }
    writer.storeArchive(uri, () => ({
      channel: uri,
      head: JSON.stringify(open.channel.live),
      turns: { start: 0, items: [] },
    }));
    await writer.settled();
    return true;
  }

  async start(): Promise<void> {
    await this.#runs.load();
    await this.#catalogue.load();
    for (const run of [...this.#runs.all()]) this.#sessions.afterCrash(run);
  }

  ready(): void {
    this.#scheduler.start();
    this.#events.start();
  }

  stopping(): void {
    this.#scheduler.stop();
    this.#events.stop();
    this.#skipped.close();
    this.#sessions.stop();
  }

  /** A time or an event: starts a run, unless one is under way. */
  #due(automation: string, origin: AutomationTriggerOrigin, chain = 0): void {
    if (!this.#runs.active(automation)) return void this.#begin({ automation, origin, chain });
    const skip = { automation, origin, reason: 'overlap', count: 1 } as const;
    // The mark of a scheduled time is stored in this tick, together with the note about it.
    if (origin.event === undefined) noteSkipped(this.#runs, this.#host.clock, skip);
    else this.#skipped.add(skip);
  }

  /** Records a run. It begins once the record is stored and a place is free. */
  #begin(run: NewRun): Run {
    this.#skipped.write();
    const created = this.#runs.create(run);
    this.#host.writer.afterCommit(() => {
      this.#sessions.line(created);
    });
    return created;
  }

  async #runNow({ automation, requestId }: RunAutomationParams): Promise<{ resource: string }> {
    if (requestId === '' || requestId.length > REQUEST_ID_MAX_CHARACTERS)
      throw new RequestError(ErrorCode.InvalidParams, `/requestId has 1 to ${REQUEST_ID_MAX_CHARACTERS} characters`);
    this.#entry(automation);
    const known = this.#runs.of(automation).find(({ facts }) => facts.requestId === requestId);
    const active = this.#runs.active(automation);
    if (!known && active)
      throw new RequestError(
        ErrorCode.TurnInProgress,
        `${active.uri} is ${active.lifecycle.status}: wait for it, or cancel it`,
      );
    const run = known ?? this.#begin({ automation, origin: { kind: 'manual' }, requestId });
    await this.#host.writer.settled();
    return { resource: run.uri };
  }

  /** More runs are sent with `automation/set`, before the answer. */
  async #fetchRuns({ automation, cursor }: FetchAutomationRunsParams): Promise<Record<string, never>> {
    const { runs: shown, runsNextCursor } = this.#entry(automation);
    const from = cursor ?? runsNextCursor;
    if (from === undefined) return {};
    if (!/^\d{1,15}$/.test(from))
      throw new RequestError(ErrorCode.InvalidParams, `/cursor: ${from} is not one of ours`);
    const newer = this.#runs.of(automation).filter(({ facts }) => facts.number >= Number(from)).length;
    this.#catalogue.showRuns(automation, Math.max(shown.length, newer + RUNS_PAGE));
    await this.#host.writer.settled();
    return {};
  }

  #entry(automation: string): AutomationEntry {
    const entry = this.#catalogue.find(automation);
    if (!entry) throw new RequestError(ErrorCode.NotFound, `there is no automation ${automation}`);
    return entry;
  }

  /** Ends its runs and deletes its history. Sessions stay. */
  #remove(automation: string): void {
    for (const run of this.#runs.of(automation).filter(({ isOver }) => !isOver)) this.#sessions.cancel(run);
    this.#runs.forgetAll(automation);
  }
}
