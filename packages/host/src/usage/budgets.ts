/**
 * Budgets: how much a session, a project or a day may use before a person is asked. At 80 % the turn says so. At 100 %
 * the next step of every affected turn waits: before the turn begins, before a request to the model, before a tool
 * call. Nothing that runs is cut off. The question appears in the session, so that every client can answer it: go on
 * with half as much again, or stop. The accounts hold the usage, and a record holds how far a budget was raised, so
 * both outlive the host. A turn that waits when the host ends has failed like any other; when it continues, the
 * question is asked again.
 */
import type { Writer } from '@atrium/core/channels/writer.js';
import type { InputOutcome } from '@atrium/core/contracts/agent.js';
import { RequestError } from '@atrium/core/contracts/request-error.js';
import { jsonText, type Log } from '@atrium/core/log/log.js';
import type { Chat } from '@atrium/core/sessions/chat.js';
import type { TurnStep } from '@atrium/core/sessions/service.js';
import type { Session } from '@atrium/core/sessions/session.js';
import { isRecord } from '@atrium/core/util/shape.js';
import { untilAborted } from '@atrium/core/util/waiting.js';
import {
  BUDGET_QUESTION,
  BUDGET_SCOPES,
  type BudgetEntry,
  type BudgetScope,
  type ChatInputRequest,
  ErrorCode,
  type UsageLimit,
} from '@atrium/protocol/ahp-1';
import type { Account } from './accounts.js';
import type { PriceList } from './price-list.js';
import { tokensOf, totalsOf } from './report.js';

/** From this share of a budget on, people are told. */
const WARN_SHARE = 0.8;
/** How much a person raises a budget by. */
const RAISE_FACTOR = 1.5;
/** How many budgets of single sessions and projects people may set or raise. */
export const BUDGETS_MAX = 1_000;

const QUESTION = 'budget';
const STOP = 'stop';

/** The stored part of one budget: what a person set, and what it was raised to since. */
interface StoredBudget {
  readonly set?: UsageLimit;
  readonly raised?: { readonly from: UsageLimit; readonly to: UsageLimit };
}

interface Excess {
  readonly scope: BudgetScope;
  readonly account: Account;
  readonly limit: UsageLimit;
}

interface OpenQuestion {
  /** The turns that wait for the answer. */
  readonly waiting: Set<TurnStep>;
  readonly over: Promise<void>;
  end(): void;
}

export interface BudgetParts {
  readonly log: Log;
  readonly writer: Writer;
  readonly prices: PriceList;
  /** The accounts that a session adds to now, by what they count, read from the log. */
  accounts(session: Session): Promise<Accounts>;
  /** The same accounts, as far as they are in memory. */
  accountsNow(session: Session): Accounts;
}

export type Accounts = Readonly<Record<BudgetScope, Account>>;

export class Budgets {
  readonly #parts: BudgetParts;
  readonly #configured: Readonly<Partial<Record<BudgetScope, UsageLimit>>>;
  /** By the key of the record. */
  readonly #stored = new Map<string, StoredBudget>();
  /** By session and budget. */
  readonly #questions = new Map<string, OpenQuestion>();

  constructor(parts: BudgetParts, configured: Readonly<Partial<Record<BudgetScope, UsageLimit>>> = {}) {
    this.#parts = parts;
    this.#configured = configured;
  }

  async load(): Promise<void> {
    for (const { key, value } of await this.#parts.log.records(PREFIX)) this.#stored.set(key, keptIn(value));
  }

  /** Whether there is any budget. Without one, nothing is checked. */
  get isAny(): boolean {
    return this.#stored.size > 0 || Object.keys(this.#configured).length > 0;
  }

  /** Holds a turn back while one of its budgets is used up. */
  beforeStep(step: TurnStep): Promise<void> | undefined {
    return this.isAny ? this.#pass(step) : undefined;
  }

  async #pass(step: TurnStep): Promise<void> {
    const { session, signal } = step;
    for (;;) {
      const excess = this.#excessIn(await untilAborted(signal, this.#parts.accounts(session)));
      if (!excess) return;
      await this.#hold(step, excess);
    }
  }

  async #hold(step: TurnStep, excess: Excess): Promise<void> {
    const key = `${step.session.uri} ${keyOf(excess.scope, excess.account.name)}`;
    const question = this.#questions.get(key) ?? this.#ask(step.session, excess, key);
    question.waiting.add(step);
    try {
      await untilAborted(step.signal, question.over);
    } finally {
      question.waiting.delete(step);
      if (question.waiting.size === 0) question.end();
    }
  }

  #ask(session: Session, excess: Excess, key: string): OpenQuestion {
    const { scope, account, limit } = excess;
    const more = raisedFrom(account, limit, this.#parts.prices);
    const { promise, resolve } = resolvers();
    const spent = used(account, limit, this.#parts.prices);
    const message = `${capital(SCOPE_LABELS[scope])} is used up: ${spent}. The next step waits for your answer.`;
    const waiting = new Set<TurnStep>();
    const withdraw = session.standing.ask(
      questionOf(message, more),
      (response, answers) => {
        if (isStop(response, answers))
          for (const step of [...waiting]) stop(step, `Stopped. ${capital(SCOPE_LABELS[scope])} is used up: ${spent}.`);
        else this.#raise(excess, more);
      },
      { note: `${message} This client cannot answer: use a newer one, or raise the budget in the configuration.` },
    );
    const question: OpenQuestion = {
      waiting,
      over: promise,
      end: () => {
        if (this.#questions.get(key) === question) this.#questions.delete(key);
        withdraw();
        resolve();
      },
    };
    this.#questions.set(key, question);
    return question;
  }

  #raise({ scope, account: { name } }: Excess, to: UsageLimit): void {
    const kept = this.#stored.get(keyOf(scope, name));
    this.#keep(scope, name, { ...kept, raised: { from: this.#setFor(scope, name), to } });
    this.#recheck();
  }

  /** A budget has changed: checks everything that waits again, and asks again where necessary. */
  #recheck(): void {
    for (const question of [...this.#questions.values()]) question.end();
  }

  #keep(scope: BudgetScope, name: string, kept: StoredBudget): void {
    const key = keyOf(scope, name);
    const isEmpty = !kept.set && !kept.raised;
    if (isEmpty) this.#stored.delete(key);
    else this.#stored.set(key, kept);
    this.#parts.writer.record({ key, value: isEmpty ? null : jsonText(kept) }, 'full');
  }

  /** The budget that applies: the one that people set for exactly this name, or the configured one for all names. */
  #setFor(scope: BudgetScope, name: string): UsageLimit {
    const own =
      this.#stored.get(keyOf(scope, name))?.set ??
      (scope === 'day' ? this.#stored.get(keyOf(scope, ''))?.set : undefined);
    return own ?? this.#configured[scope] ?? {};
  }

  /** A raise applies only while the budget that was raised stays the same. */
  #limitOf(scope: BudgetScope, name: string): UsageLimit {
    const set = this.#setFor(scope, name);
    const raised = this.#stored.get(keyOf(scope, name))?.raised;
    return raised && JSON.stringify(raised.from) === JSON.stringify(set) ? raised.to : set;
  }

  #excessIn(accounts: Accounts): Excess | undefined {
    return this.#limitsOf(accounts).find(({ account, limit }) => shareOf(account, limit, this.#parts.prices) >= 1);
  }

  #limitsOf(accounts: Accounts): Excess[] {
    return BUDGET_SCOPES.map((scope) => {
      const account = accounts[scope];
      return { scope, account, limit: this.#limitOf(scope, account.name) };
    });
  }

  /** The used share of each budget of a session, so that `warn` sees what changed. */
  shares(session: Session): readonly number[] {
    if (!this.isAny) return [];
    const limits = this.#limitsOf(this.#parts.accountsNow(session));
    return limits.map(({ account, limit }) => shareOf(account, limit, this.#parts.prices));
  }

  /** A turn used something: tells people if that brought a budget near its end. */
  warn(chat: Chat, before: readonly number[]): void {
    const { session } = chat;
    const turnId = chat.state.activeTurn?.id;
    if (!this.isAny || turnId === undefined) return;
    for (const [index, { scope, account, limit }] of this.#limitsOf(this.#parts.accountsNow(session)).entries()) {
      const share = shareOf(account, limit, this.#parts.prices);
      if ((before[index] ?? 0) >= WARN_SHARE || share < WARN_SHARE || share >= 1) continue;
      const content = `${Math.floor(share * 100)} % of ${SCOPE_LABELS[scope]} is used: ${used(account, limit, this.#parts.prices)}.`;
      chat.write({ type: 'chat/responsePart', turnId, part: { kind: 'systemNotification', content } });
    }
  }

  /** The budgets of a session, with their usage. */
  async list(session: Session): Promise<BudgetEntry[]> {
    const { prices } = this.#parts;
    return this.#limitsOf(await this.#parts.accounts(session)).flatMap(({ scope, account, limit }): BudgetEntry[] => {
      if (Object.keys(limit).length === 0) return [];
      const { cost: money = 0, input, output } = totalsOf(account.rows(), prices);
      const set = this.#setFor(scope, account.name);
      return [{ scope, name: account.name, limit, set, spent: { money, tokens: input + output } }];
    });
  }

  /** Sets or removes the budget of a session, a project or every day; its raise is forgotten. */
  set(scope: BudgetScope, name: string, limit: UsageLimit): void {
    const key = keyOf(scope, name);
    const isEmpty = Object.keys(limit).length === 0;
    if (!isEmpty && !this.#stored.has(key) && this.#stored.size >= BUDGETS_MAX)
      throw new RequestError(ErrorCode.InvalidParams, `at most ${BUDGETS_MAX} budgets are kept: remove one first`);
    this.#keep(scope, name, isEmpty ? {} : { set: limit });
    this.#recheck();
  }

  /** A session is gone for good, or a day is too long ago to be reported. */
  forget(scope: BudgetScope, isOver: (name: string) => boolean): void {
    for (const key of [...this.#stored.keys()]) {
      const [of, name = ''] = key.slice(PREFIX.length).split(':');
      if (of === scope && name !== '' && isOver(decodeURIComponent(name)))
        this.#keep(scope, decodeURIComponent(name), {});
    }
  }
}

const PREFIX = 'budget:';

function keyOf(scope: BudgetScope, name: string): string {
  return `${PREFIX}${scope}:${encodeURIComponent(name)}`;
}

function keptIn(value: string): StoredBudget {
  const kept: unknown = JSON.parse(value);
  return isRecord(kept) ? (kept as StoredBudget) : {};
}

const SCOPE_LABELS: Readonly<Record<BudgetScope, string>> = {
  session: 'the budget of this session',
  project: 'the budget of this project',
  day: "today's budget",
};

/** The used share of a limit; above 1 when it is exceeded. */
function shareOf(account: Account, { money, tokens }: UsageLimit, prices: PriceList): number {
  if (money === undefined && tokens === undefined) return 0;
  const rows = account.rows();
  const spent = rows.reduce((sum, row) => sum + tokensOf(row), 0);
  const cost = money === undefined ? 0 : (totalsOf(rows, prices).cost ?? 0);
  return Math.max(tokens === undefined ? 0 : spent / tokens, money === undefined ? 0 : cost / money || 0);
}

/** A text such as `$4.20 of $5.00`. */
function used(account: Account, { money, tokens }: UsageLimit, prices: PriceList): string {
  const { cost = 0, input, output } = totalsOf(account.rows(), prices);
  const parts = [
    money !== undefined && `$${cost.toFixed(2)} of $${money.toFixed(2)}`,
    tokens !== undefined && `${grouped(input + output)} of ${grouped(tokens)} tokens`,
  ];
  return parts.filter(Boolean).join(', ');
}

/** One and a half times the budget or the present usage, whichever is larger, so that the next step fits. */
function raisedFrom(account: Account, { money, tokens }: UsageLimit, prices: PriceList): UsageLimit {
  const { cost = 0, input, output } = totalsOf(account.rows(), prices);
  return {
    ...(money !== undefined && { money: Math.max(money, cost) * RAISE_FACTOR }),
    ...(tokens !== undefined && { tokens: Math.ceil(Math.max(tokens, input + output) * RAISE_FACTOR) }),
  };
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

function grouped(count: number): string {
  return Math.round(count).toLocaleString('en-US');
}

function questionOf(message: string, { money, tokens }: UsageLimit): ChatInputRequest {
  const more = [money !== undefined && `$${money.toFixed(2)}`, tokens !== undefined && `${grouped(tokens)} tokens`];
  const options = [
    {
      id: 'more',
      label: 'Go on with 50 % more',
      description: `The budget becomes ${more.filter(Boolean).join(', ')}.`,
    },
    { id: STOP, label: 'Stop', description: 'The turn ends here. What it has done stays.' },
  ];
  const question = { kind: 'single-select' as const, id: QUESTION, message: 'Go on?', required: true, options };
  return { id: `${BUDGET_QUESTION}${crypto.randomUUID()}`, message, questions: [question] };
}

/** A person who dismisses the question does not want to pay. */
function isStop(response: string, answers: InputOutcome['answers']): boolean {
  const answer = answers[QUESTION];
  const chosen = answer?.state === 'submitted' && answer.value.kind === 'selected' ? answer.value.value : undefined;
  return response !== 'accept' || chosen === STOP;
}

function stop({ chat, turnId }: TurnStep, content: string): void {
  chat.write({ type: 'chat/responsePart', turnId, part: { kind: 'systemNotification', content } });
  chat.write({ type: 'chat/turnCancelled', turnId, duration: 0 });
}

function resolvers(): { promise: Promise<void>; resolve: () => void } {
  let resolve = () => {};
  const promise = new Promise<void>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}
