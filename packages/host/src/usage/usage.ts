/**
 * Counts the usage of every turn, and answers `atrium/usage`. It sees each report of an agent in the tick in which it
 * is written, and adds the difference to the previous report. Imported turns and turns copied with a fork are not
 * reports, so they are not counted again; a deleted session stays in the days and projects.
 */
import type { Writer } from '@atrium/core/channels/writer.js';
import type { Caller } from '@atrium/core/contracts/ports.js';
import { RequestError } from '@atrium/core/contracts/request-error.js';
import type { Log } from '@atrium/core/log/log.js';
import type { Service, TurnStep } from '@atrium/core/sessions/service.js';
import type { Session } from '@atrium/core/sessions/session.js';
import type { ChatStep, SessionObserver, SessionStep } from '@atrium/core/sessions/session-observer.js';
import type { Clock } from '@atrium/core/util/clock.js';
import {
  addCounts,
  BUDGET_SCOPES,
  type BudgetScope,
  type ChatState,
  ErrorCode,
  type SessionState,
  type Turn,
  USAGE_GROUPS,
  type UsageGroup,
  type UsageInfo,
  type UsageLimit,
  type UsageReport,
  usageCounts,
  usageDetails,
} from '@atrium/protocol/ahp-1';
import { Account, type AccountKind, NO_COUNTS, prefixOf, type RowCounts, type RowOwner } from './accounts.js';
import { type Accounts, Budgets } from './budgets.js';
import { PriceList, type PriceListOptions } from './price-list.js';
import { dayOf, type ReportQuestion, reportOf, USAGE_DAYS_KEPT, USAGE_DAYS_SHOWN } from './report.js';

/** Accounts of projects and days in memory; the least recently used is dropped, and read again when needed. */
const ACCOUNTS_IN_MEMORY = 200;

export interface UsageOptions extends PriceListOptions {
  /** How much a session, a project or a day may use before a person is asked. */
  readonly budgets?: Readonly<Partial<Record<BudgetScope, UsageLimit>>> | undefined;
}

export interface UsageParts {
  readonly log: Log;
  readonly writer: Writer;
  readonly clock: Clock;
  /** The title of a session or a project; undefined when it is gone. */
  titleOf(kind: AccountKind, name: string): string | undefined;
  /** A session from memory or from the log; undefined when it does not exist. */
  open(session: string): Promise<Session | undefined>;
}

type Params = Readonly<Record<string, unknown>>;

export class Usage implements Service {
  readonly #prices: PriceList;
  readonly #budgets: Budgets;
  readonly #parts: UsageParts;
  readonly #accounts = new Map<string, Account>();
  #cleaned = '';

  constructor(parts: UsageParts, options: UsageOptions = {}) {
    this.#parts = parts;
    this.#prices = new PriceList(options);
    this.#budgets = new Budgets(
      {
        ...{ log: parts.log, writer: parts.writer, prices: this.#prices },
        accounts: async (session) => {
          await this.#read(session);
          return this.#accountsOf(session);
        },
        accountsNow: (session) => this.#accountsOf(session),
      },
      options.budgets,
    );
  }

  readonly extensionRequests = {
    'atrium/usage': async (_caller: unknown, params: Params): Promise<UsageReport> =>
      reportOf({ ...this.#parts, prices: this.#prices }, questionIn(params)),
    'atrium/budgets': async ({ access }: Pick<Caller, 'access'>, { session }: Params) => {
      const items = await this.#budgets.list(await this.#opened(session));
      // Others add to the sums of a project and of a day, so callers with bounds do not see these.
      return { items: access.bounds ? items.filter(({ scope }) => scope === 'session') : items };
    },
    'atrium/setBudget': async (_caller: unknown, params: Params) => {
      const { scope, limit } = budgetIn(params);
      this.#budgets.set(scope, scope === 'day' ? '' : await this.#nameOf(scope, params.session), limit);
      await this.#parts.writer.settled();
      return null;
    },
  };

  readonly attach = (session: Session): SessionObserver => ({
    begin: () => this.#read(session),
    observe: (step) => this.#observe(session, step),
    spent: (usage) => void this.#spentBeside(session, usage),
    close: async () => this.#leave(prefixOf('session', session.uri)),
  });

  start(): Promise<void> {
    return this.#budgets.load();
  }

  beforeStep(step: TurnStep): Promise<void> | undefined {
    return this.#budgets.beforeStep(step);
  }

  /** Deletes the session's records together with it. */
  async forgotten(session: string): Promise<void> {
    const { log, writer } = this.#parts;
    this.#accounts.delete(prefixOf('session', session));
    this.#budgets.forget('session', (name) => name === session);
    for (const { key } of await log.records(prefixOf('session', session))) writer.record({ key, value: null });
  }

  async #opened(uri: unknown): Promise<Session> {
    const session = typeof uri === 'string' ? await this.#parts.open(uri) : undefined;
    if (!session) throw wrong('atrium/budgets', '"session" must be the URI of a session');
    return session;
  }

  async #nameOf(scope: 'session' | 'project', uri: unknown): Promise<string> {
    const session = await this.#opened(uri);
    return scope === 'session' ? session.uri : projectOf(session.state);
  }

  /** Reads the accounts that the next turn of a session adds to. */
  async #read(session: Session): Promise<void> {
    await Promise.all(Object.values(this.#accountsOf(session)).map((account) => account.load()));
    await this.#clean();
  }

  /** The accounts that a session adds to at this moment. */
  #accountsOf(session: Session): Accounts {
    return {
      session: this.#account('session', session.uri),
      project: this.#account('project', projectOf(session.state)),
      day: this.#account('day', this.#today()),
    };
  }

  #today(): string {
    return dayOf(this.#parts.clock.now());
  }

  #account(kind: AccountKind, name: string): Account {
    const { log, writer } = this.#parts;
    const id = prefixOf(kind, name);
    const account = this.#accounts.get(id) ?? new Account({ log, writer, kind, name });
    this.#accounts.delete(id);
    this.#accounts.set(id, account);
    const [oldest] = this.#accounts.keys();
    if (this.#accounts.size > ACCOUNTS_IN_MEMORY && oldest !== undefined) this.#leave(oldest);
    return account;
  }

  /** Only a fully stored account may be dropped and read again. */
  #leave(id: string): void {
    if (this.#accounts.get(id)?.isSettled) this.#accounts.delete(id);
  }

  #observe(session: Session, step: SessionStep): void {
    if (!step.chat) return;
    const { type } = step.action;
    if (type === 'chat/usage') return this.#reported(session, step);
    const resumed = type === 'chat/turnResume' ? endedTurn(step.after, step.before) : undefined;
    const ended = endedTurn(step.before, step.after);
    // A turn that was resumed had not ended after all, so its earlier end is subtracted.
    if (resumed?.usage) this.#add(session, resumed.usage, addCounts(NO_COUNTS, endOf(resumed), -1));
    if (ended?.usage) this.#add(session, ended.usage, endOf(ended));
  }

  #reported(session: Session, { chat, before, after }: ChatStep): void {
    const { activeTurn } = after;
    if (!activeTurn?.usage) return;
    const earlier = before.activeTurn?.usage;
    const { costUsd: cost = 0 } = usageDetails(activeTurn.usage);
    const { costUsd: costBefore = 0 } = earlier ? usageDetails(earlier) : {};
    const more = addCounts(usageCounts(activeTurn.usage), usageCounts(earlier), -1);
    const counts = { ...NO_COUNTS, ...more, costUsd: cost - costBefore };
    const isAny = Object.values(counts).some((count) => count !== 0);
    if (!isAny) return;
    const shares = this.#budgets.shares(session);
    this.#add(session, activeTurn.usage, notNegative(counts));
    this.#budgets.warn(chat, shares);
  }

  /** Usage outside of any turn, such as for a title or an assessment, counts, too. */
  async #spentBeside(session: Session, usage: UsageInfo): Promise<void> {
    await this.#read(session);
    this.#add(session, usage, notNegative({ ...NO_COUNTS, ...usageCounts(usage) }));
  }

  #add(session: Session, usage: UsageInfo, counts: RowCounts): void {
    const { model } = usage;
    const { plan } = usageDetails(usage);
    const owner: RowOwner = {
      project: projectOf(session.state),
      agent: session.state.provider,
      ...(model !== undefined && { model }),
      ...(plan && { plan }),
    };
    for (const account of Object.values(this.#accountsOf(session))) account.add(owner, counts);
  }

  /** Once a day: removes days that can no longer be reported. */
  async #clean(): Promise<void> {
    const today = this.#today();
    if (this.#cleaned === today) return;
    this.#cleaned = today;
    const { log, writer, clock } = this.#parts;
    const first = prefixOf('day', dayOf(clock.now(), -USAGE_DAYS_KEPT));
    this.#budgets.forget('day', (day) => day < today);
    await log.eachRecord(prefixOf('day'), ({ key }) => {
      if (key < first) writer.record({ key, value: null });
    });
  }
}

function questionIn({ by = 'day', days, session, project }: Params): ReportQuestion {
  const refuse = (message: string) => wrong('atrium/usage', message);
  if (!USAGE_GROUPS.includes(by as UsageGroup)) throw refuse(`"by" must be one of ${USAGE_GROUPS.join(', ')}`);
  if (days !== undefined && !(Number.isSafeInteger(days) && Number(days) >= 1 && Number(days) <= USAGE_DAYS_KEPT))
    throw refuse(`"days" must be a whole number from 1 to ${USAGE_DAYS_KEPT}`);
  if (session !== undefined && typeof session !== 'string') throw refuse('"session" must be the URI of a session');
  if (project !== undefined && typeof project !== 'string') throw refuse('"project" must be the URI of a folder');
  if (session !== undefined && by === 'day') throw refuse('what a session used is not kept by day; ask "by" model');
  return { by: by as UsageGroup, days: Number(days ?? USAGE_DAYS_SHOWN), session, project };
}

/** Without a limit, the budget is removed. */
function budgetIn({ scope, money, tokens }: Params): { readonly scope: BudgetScope; readonly limit: UsageLimit } {
  const refuse = (message: string) => wrong('atrium/setBudget', message);
  if (!BUDGET_SCOPES.includes(scope as BudgetScope)) throw refuse(`"scope" must be one of ${BUDGET_SCOPES.join(', ')}`);
  if (money !== undefined && !(typeof money === 'number' && money > 0 && Number.isFinite(money)))
    throw refuse('"money" must be a number above 0, in US dollars');
  if (tokens !== undefined && !(Number.isSafeInteger(tokens) && Number(tokens) > 0))
    throw refuse('"tokens" must be a whole number above 0');
  const limit = { ...(money !== undefined && { money }), ...(tokens !== undefined && { tokens: Number(tokens) }) };
  return { scope: scope as BudgetScope, limit };
}

function wrong(method: string, message: string): RequestError {
  return new RequestError(ErrorCode.InvalidParams, `${method}: ${message}`);
}

/** The folder that a session's work belongs to. */
export function projectOf({ project, workingDirectories = [] }: SessionState): string {
  return project?.uri ?? workingDirectories[0] ?? '';
}

/** The turn that ended between two states, unless it was cut off. */
function endedTurn(before: ChatState, after: ChatState): Turn | undefined {
  const id = before.activeTurn?.id;
  return id === undefined || id === after.activeTurn?.id ? undefined : after.turns.findLast((turn) => turn.id === id);
}

/** A turn that a restart ended did nothing while the host was off. */
function endOf({ duration = 0, responseParts }: Turn): RowCounts {
  const last = responseParts.at(-1);
  const wasCut = last?.kind === 'error' && last.error.errorType === 'host-restarted';
  return { ...NO_COUNTS, turns: 1, milliseconds: wasCut ? 0 : duration };
}

/** Foreign agents may lower their reported usage; what was counted stays. */
function notNegative(counts: RowCounts): RowCounts {
  const entries = Object.entries(counts).map(([name, count]) => [name, Math.max(0, count)]);
  return Object.fromEntries(entries) as unknown as RowCounts;
}
