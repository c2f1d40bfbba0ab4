/**
 * Notifies people who are not looking: finds events in the actions of sessions, waits a moment, and tells each
 * interested receiver once. Start reading here; `events.ts` says what is reported, `rules.ts` to whom, `messages.ts` in
 * which words, and `deliveries.ts` how it gets there.
 */
import type { Writer } from '@atrium/core/channels/writer.js';
import { type Access, hasRole, OWNER } from '@atrium/core/contracts/access.js';
import type { Caller } from '@atrium/core/contracts/ports.js';
import type { Log } from '@atrium/core/log/log.js';
import type { Service } from '@atrium/core/sessions/service.js';
import type { Session } from '@atrium/core/sessions/session.js';
import type { SessionObserver, SessionStep } from '@atrium/core/sessions/session-observer.js';
import type { Clock } from '@atrium/core/util/clock.js';
import type { Logger } from '@atrium/core/util/logger.js';
import { shorten } from '@atrium/core/util/text.js';
import {
  type AutomationRunLifecycle,
  DEFAULT_RULE,
  NOTIFICATIONS_METHOD,
  NOTIFIED_METHOD,
  type NotificationMessage,
  type NotificationReceivers,
  type NotificationRule,
  REMOVE_RECEIVER_METHOD,
  SET_RECEIVER_METHOD,
  TEST_RECEIVER_METHOD,
  VIEW_METHOD,
} from '@atrium/protocol/ahp-1';
import { type AnswerResult, Answers, openRequest } from './answers.js';
import { Deliveries, deduplicates } from './deliveries.js';
import { type Desktop, findDesktop } from './desktop.js';
import { endIn, type FoundEvent, idOf, questionIn } from './events.js';
import {
  BODY_MAX_CHARACTERS,
  END_DELAY_MS,
  MESSAGES_PER_HOUR_MAX,
  QUESTION_DELAY_MS,
  TESTS_PER_MINUTE_MAX,
} from './limits.js';
import { closing, messageOf, testMessage, wholeCommand } from './messages.js';
import { type OpenEvent, OpenEvents } from './open-events.js';
import type { Reach } from './post.js';
import { Receivers, type StoredReceiver } from './receivers.js';
import { isQuiet, isWanted, wrong } from './rules.js';
import { vapidKeys } from './vapid-file.js';
import { readView, Views } from './views.js';
import type { VapidKeys } from './web-push.js';

const HOUR_MS = 60 * 60_000;
const MINUTE_MS = 60_000;
/** Push services require an address. This one is reserved for examples (RFC 2606) and belongs to nobody. */
const NO_CONTACT = 'mailto:operator@example.org';

export interface NotificationsOptions extends Reach {
  /** How push services reach the operator: `mailto:…` or `https://…`. */
  readonly contact?: string | undefined;
  /** `null`: none. Default: the desktop of this machine. */
  readonly desktop?: Desktop | null | undefined;
}

export interface NotificationsHost {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly log: Log;
  readonly writer: Writer;
  readonly dataFolder: string | undefined;
  /** Undefined: the host reads its keys from the data folder. */
  readonly pushKeys: VapidKeys | undefined;
  isConnected(clientId: string): boolean;
  sessionOf(uri: string): Session | undefined;
  open(uri: string): Promise<Session | undefined>;
  titleOf(session: string): string | undefined;
  /** The present access of a device; undefined when it is gone. */
  accessOf(deviceId: string): Access | undefined;
  canSee(access: Access, session: string): boolean;
  /** Sends a notification to a connected client. */
  notify(caller: Caller, method: string, params: Readonly<Record<string, unknown>>): void;
}

/** The facts about a run of an automation that notifications use. */
interface EndedRun {
  readonly uri: string;
  readonly lifecycle: Pick<AutomationRunLifecycle, 'status' | 'error'>;
  readonly state: { readonly primarySession?: string };
}

type Params = Readonly<Record<string, unknown>>;

export class Notifications implements Service {
  readonly #host: NotificationsHost;
  readonly #receivers: Receivers;
  readonly #views: Views;
  readonly #events: OpenEvents;
  readonly #deliveries: Deliveries;
  readonly #answers: Answers;
  readonly #desktop: Desktop | undefined;
  #keys: Promise<VapidKeys> | undefined;
  /** Timers of what is due, and deliveries under way, both by event. */
  readonly #timers = new Map<string, () => void>();
  readonly #sending = new Map<string, AbortController>();
  /** The clients that show an event. */
  readonly #shownBy = new Map<string, { readonly caller: Caller; readonly message: NotificationMessage }[]>();
  /** The times at which each receiver was told something. */
  readonly #sentAt = new Map<string, number[]>();
  /** The times at which each credential tested a receiver. */
  readonly #tested = new Map<string, number[]>();
  /** Events of an earlier host as they were at the start, because recovery may settle some before this one is ready. */
  #unsettled: readonly OpenEvent[] = [];
  #isStopping = false;

  constructor(host: NotificationsHost, options: NotificationsOptions = {}) {
    this.#host = host;
    const { clock, logger, log, writer } = host;
    const { contact = NO_CONTACT, desktop, ...reach } = options;
    this.#desktop = desktop === undefined ? findDesktop() : (desktop ?? undefined);
    const hasDesktop = this.#desktop !== undefined;
    this.#receivers = new Receivers({
      ...{ log, writer, clock, reach, hasDesktop },
      removed: (id) => this.#sentAt.delete(id),
    });
    this.#views = new Views({
      clock,
      isConnected: (clientId) => host.isConnected(clientId),
      canSee: ({ access }, session) => host.canSee(access, session),
      changed: (session) => this.#recheck(session),
    });
    this.#events = new OpenEvents(log, writer);
    this.#deliveries = new Deliveries({
      ...{ clock, logger, reach, contact, desktop: this.#desktop },
      keys: () => this.#pushKeys(),
    });
    this.#answers = new Answers({
      eventOf: (id) => this.#events.get(id),
      receiverOf: (id) => this.#receivers.get(id),
      accessOf: (receiver) => this.#accessOf(receiver),
      canSee: (access, session) => host.canSee(access, session),
      sessionOf: (uri) => host.sessionOf(uri),
      settled: () => writer.settled(),
    });
  }

  readonly extensionRequests = {
    [NOTIFICATIONS_METHOD]: async ({ access }: Caller): Promise<NotificationReceivers> => ({
      items: this.#receivers.list(access),
      publicKey: (await this.#pushKeys()).publicKey,
      hasDesktop: this.#desktop !== undefined,
    }),
    [SET_RECEIVER_METHOD]: ({ access }: Caller, params: Params) => this.#receivers.set(params, access),
    [REMOVE_RECEIVER_METHOD]: async ({ access }: Caller, { id }: Params) => {
      this.#receivers.remove(this.#receivers.held(id, access).id);
      await this.#host.writer.settled();
      return null;
    },
    [TEST_RECEIVER_METHOD]: ({ access }: Caller, { id }: Params) => {
      const receiver = this.#receivers.held(id, access);
      this.#spendTest(access.credential.id);
      return this.#test(receiver);
    },
    [VIEW_METHOD]: (caller: Caller, params: Params) => {
      const { receiver, ...view } = readView(params);
      // With someone else's receiver, this client would be notified in its place.
      const isOwn = receiver !== undefined && this.#receivers.isOwn(receiver, caller.access);
      this.#views.report(caller, { ...view, ...(isOwn && { receiver }) });
      return null;
    },
  };

  /** A test asks another server, and must not delay other requests. */
  readonly lanes = { [TEST_RECEIVER_METHOD]: 'free' } as const;

  readonly attach = (session: Session): SessionObserver => ({
    observe: (step) => this.#observe(session, step),
    close: async () => {},
  });

  async start(): Promise<void> {
    await this.#receivers.load();
    await this.#events.load();
    this.#unsettled = this.#events.all();
  }

  /** Created when first needed. */
  #pushKeys(): Promise<VapidKeys> {
    const { pushKeys, dataFolder } = this.#host;
    if (pushKeys) return Promise.resolve(pushKeys);
    this.#keys ??= vapidKeys(dataFolder).catch((error) => {
      this.#keys = undefined;
      throw error;
    });
    return this.#keys;
  }

  /**
   * Resumes the events of an earlier host: they wait again, are sent again if the receiver recognises repetitions, or
   * are withdrawn.
   */
  ready(): void {
    for (const event of this.#unsettled) void this.#resume(event).catch((error) => this.#failed(event, error));
    this.#unsettled = [];
  }

  stopping(): void {
    this.#isStopping = true;
    for (const cancel of this.#timers.values()) cancel();
    this.#deliveries.stop();
  }

  left(caller: Caller): void {
    this.#views.left(caller);
  }

  async forgotten(session: string): Promise<void> {
    for (const event of this.#events.all()) if (event.session === session) this.#settle(event);
  }

  /** A device was removed and gets no more notifications. */
  removeDevice(deviceId: string): void {
    this.#receivers.removeAllOf(deviceId);
  }

  /** The connection token was replaced: browsers that used the old one get no more notifications. */
  removeBrowsersOfOwner(): void {
    this.#receivers.removeBrowsersOf(OWNER.credential.id);
  }

  /** Allow or Deny in a notification. */
  answer(key: unknown, approved: unknown): Promise<AnswerResult> {
    return this.#answers.answer(key, approved);
  }

  /** Runs in the tick in which a run ended. A run that was skipped or stopped is not reported. */
  runEnded({ uri, lifecycle: { status, error }, state }: EndedRun, title: string): void {
    if (status === 'cancelled' || error?.errorType.startsWith('skipped-')) return;
    const id = idOf('automation', uri, status);
    const text = error && shorten(error.message, BODY_MAX_CHARACTERS);
    this.#found({ id, event: 'automation', session: state.primarySession ?? '', title, ...(text && { text }) });
  }

  #observe(session: Session, step: SessionStep): void {
    if (!this.#hasReceivers) return;
    if (step.origin) this.#views.acted(session.uri, step.origin.clientId);
    if (step.chat) {
      const end = endIn(session.uri, step);
      // The end of such a turn is reported as that of the automation's run.
      const isRun = session.state.origin !== undefined && end?.turnId?.startsWith('run-');
      if (end && !isRun) this.#found(end);
      return;
    }
    const { action } = step;
    if (action.type === 'session/inputNeededSet') this.#asked(session, questionIn(session.uri, action.request));
    if (action.type === 'session/inputNeededRemoved') this.#answered(session.uri, action.id);
  }

  /** If false, actions are not examined at all. */
  get #hasReceivers(): boolean {
    return this.#receivers.isAny || this.#views.isAnyShowing || this.#events.isAny;
  }

  #asked(session: Session, found: FoundEvent | undefined): void {
    if (!found) return;
    // The same entry may ask something else now: first about a call, then about its result.
    this.#answered(session.uri, found.question?.entry ?? '', found.id);
    this.#found(found);
  }

  #answered(session: string, entry: string, except?: string): void {
    for (const event of this.#events.all()) {
      const isOver = event.session === session && event.question?.entry === entry && event.id !== except;
      if (isOver) this.#settle(event);
    }
  }

  /** Runs in the tick of the action that the event is about, so that both are stored together or not at all. */
  #found(found: FoundEvent): void {
    const isWantedByAny = this.#receivers.all().some(({ rule }) => isWanted(rule, found.event, found.session));
    if (!isWantedByAny && !this.#views.isAnyShowing) return;
    const event = this.#events.add(found, isWantedByAny);
    if (event) this.#host.writer.afterCommit(() => this.#wait(event));
  }

  #wait({ id, question }: OpenEvent): void {
    if (this.#isStopping || this.#events.get(id)?.stage !== 'waiting') return;
    this.#timers.get(id)?.();
    const cancel = this.#host.clock.after(question ? QUESTION_DELAY_MS : END_DELAY_MS, () => {
      this.#timers.delete(id);
      this.#due(id);
    });
    this.#timers.set(id, cancel);
  }

  /** A session may have gone out of view: questions from meanwhile are reported after the same delay. */
  #recheck(session: string): void {
    for (const event of this.#events.all()) {
      const isHeld = event.session === session && event.stage === 'waiting' && !this.#timers.has(event.id);
      if (isHeld) this.#wait(event);
    }
  }

  #due(id: string): void {
    const event = this.#events.get(id);
    if (event?.stage !== 'waiting' || this.#isStopping) return;
    // A person who views a session sees its end. A question waits until they look away.
    if (this.#views.isInView(event.session)) return event.question ? undefined : this.#drop(event);
    if (!event.question && this.#isAtWorkAgain(event)) return this.#drop(event);
    const receivers = this.#receivers.all().filter((receiver) => this.#wants(receiver, event));
    const sending = Object.fromEntries(receivers.map((receiver) => [receiver.id, 'sending' as const]));
    this.#notifyClients(event);
    const updated = this.#events.change(id, { stage: 'told', receivers: sending });
    // Stored before the first attempt, so that a restarted host knows that the receiver may have been told.
    this.#host.writer.afterCommit(() => {
      for (const receiver of receivers) if (updated) void this.#send(updated, receiver);
      this.#dropIfDone(id);
    });
  }

  /** Another turn has begun, so the end before it is old news. */
  #isAtWorkAgain({ session, chat }: OpenEvent): boolean {
    const found = chat === undefined ? undefined : this.#host.sessionOf(session)?.chatAt(chat);
    return found?.state.activeTurn !== undefined;
  }

  #wants(receiver: StoredReceiver, event: OpenEvent): boolean {
    return (
      receiver.kind !== 'page' && this.#canNotify(receiver, receiver.rule, event) && this.#spendMessage(receiver.id)
    );
  }

  #canNotify(receiver: StoredReceiver | undefined, rule: NotificationRule, event: OpenEvent): boolean {
    if (!isWanted(rule, event.event, event.session) || isQuiet(rule, this.#host.clock.now())) return false;
    const access = receiver ? this.#accessOf(receiver) : OWNER;
    return access !== undefined && this.#isVisible(access, event);
  }

  #accessOf({ owner }: StoredReceiver): Access | undefined {
    return owner.kind === 'device' ? this.#host.accessOf(owner.id) : { ...OWNER, credential: owner };
  }

  #spendMessage(receiver: string): boolean {
    const now = this.#host.clock.now();
    const recent = (this.#sentAt.get(receiver) ?? []).filter((at) => at > now - HOUR_MS);
    if (recent.length >= MESSAGES_PER_HOUR_MAX) return false;
    this.#sentAt.set(receiver, [...recent, now]);
    return true;
  }

  #spendTest(credential: string): void {
    const now = this.#host.clock.now();
    for (const [id, times] of this.#tested) {
      const recent = times.filter((at) => at > now - MINUTE_MS);
      if (recent.length > 0) this.#tested.set(id, recent);
      else this.#tested.delete(id);
    }
    const recent = this.#tested.get(credential) ?? [];
    if (recent.length >= TESTS_PER_MINUTE_MAX)
      throw wrong(`${TESTS_PER_MINUTE_MAX} tests a minute are sent: wait a little`);
    this.#tested.set(credential, [...recent, now]);
  }

  #messageFor(event: OpenEvent, { detail }: NotificationRule): NotificationMessage {
    const request = openRequest(this.#host.sessionOf(event.session)?.state.inputNeeded, event);
    return messageOf({ event, detail, title: event.title ?? this.#host.titleOf(event.session), request });
  }

  /** Adds buttons if the message has the whole command and the device may answer. */
  #pushFor(event: OpenEvent, receiver: StoredReceiver): NotificationMessage {
    const { id, kind, rule } = receiver;
    const message = this.#messageFor(event, rule);
    const access = this.#accessOf(receiver);
    if (!access || !hasRole(access.role, 'approver')) return message;
    const request = openRequest(this.#host.sessionOf(event.session)?.state.inputNeeded, event);
    const command = kind === 'push' && rule.detail === 'command' ? wholeCommand(request) : undefined;
    const isWhole = command !== undefined && message.body?.endsWith(`: ${command}`) === true;
    return isWhole ? { ...message, answerKey: this.#answers.keyFor(event.id, id) } : message;
  }

  async #send(event: OpenEvent, receiver: StoredReceiver): Promise<void> {
    const over = this.#sending.get(event.id) ?? new AbortController();
    this.#sending.set(event.id, over);
    const outcome = await this.#deliveries.send(receiver, this.#pushFor(event, receiver), { signal: over.signal });
    // If the end of the host cut the sending off, the next host sends again.
    if (this.#deliveries.isStopped) return;
    this.#noted(receiver, outcome);
    const { receivers } = this.#events.get(event.id) ?? {};
    if (receivers) this.#events.change(event.id, { receivers: { ...receivers, [receiver.id]: 'sent' } });
    this.#dropIfDone(event.id);
  }

  #noted(receiver: StoredReceiver, outcome: Awaited<ReturnType<Deliveries['send']>>): void {
    if (outcome.kind === 'gone') this.#receivers.remove(receiver.id);
    else if (outcome.kind === 'failed') this.#receivers.note(receiver.id, { problem: outcome.problem });
    else this.#receivers.note(receiver.id, { sentAt: new Date(this.#host.clock.now()).toISOString() });
  }

  /** Tells clients that show notifications themselves while they are connected. */
  #notifyClients(event: OpenEvent): void {
    const shown = this.#views.showing().flatMap(({ caller, receiver: id }) => {
      const receiver = id === undefined ? undefined : this.#receivers.get(id);
      if (receiver?.kind === 'push') return [];
      const rule = receiver?.rule ?? DEFAULT_RULE;
      const isAllowed = this.#canNotify(undefined, rule, event) && this.#canSee(caller, event);
      return isAllowed ? [{ caller, message: this.#messageFor(event, rule) }] : [];
    });
    for (const { caller, message } of shown) this.#host.notify(caller, NOTIFIED_METHOD, { ...message });
    if (shown.length > 0 && event.question) this.#shownBy.set(event.id, shown);
  }

  #canSee({ access }: Caller, event: OpenEvent): boolean {
    return this.#isVisible(access, event);
  }

  /** A run of an automation may have no session; clients with bounds see no automations. */
  #isVisible(access: Access, { session }: OpenEvent): boolean {
    return session === '' ? access.bounds === undefined : this.#host.canSee(access, session);
  }

  /** A question stays open until it is settled; other events end when every receiver has been told. */
  #dropIfDone(id: string): void {
    const event = this.#events.get(id);
    if (event?.stage !== 'told') return;
    const isSent = Object.values(event.receivers).every((state) => state === 'sent');
    if (isSent && !event.question) this.#drop(event);
  }

  /** Runs in the tick in which the question was answered, by any client. Withdraws what was shown. */
  #settle(event: OpenEvent): void {
    if (event.stage === 'settled') return;
    const updated = Object.keys(event.receivers);
    this.#sending.get(event.id)?.abort();
    for (const { caller, message } of this.#shownBy.get(event.id) ?? [])
      this.#host.notify(caller, NOTIFIED_METHOD, { ...closing(message) });
    if (updated.length === 0) return this.#drop(event);
    this.#timers.get(event.id)?.();
    this.#answers.forget(event.id);
    const settled = this.#events.change(event.id, { stage: 'settled' });
    if (settled) this.#host.writer.afterCommit(() => void this.#withdraw(settled));
  }

  async #withdraw(event: OpenEvent): Promise<void> {
    const receivers = Object.keys(event.receivers).flatMap((id) => this.#receivers.get(id) ?? []);
    await Promise.all(
      receivers.map((receiver) => this.#deliveries.send(receiver, closing(this.#messageFor(event, receiver.rule)))),
    );
    if (!this.#deliveries.isStopped) this.#drop(event);
  }

  #drop({ id }: OpenEvent): void {
    this.#timers.get(id)?.();
    this.#timers.delete(id);
    this.#sending.delete(id);
    this.#shownBy.delete(id);
    this.#answers.forget(id);
    this.#events.remove(id);
  }

  async #resume(event: OpenEvent): Promise<void> {
    if (event.stage === 'settled') return this.#withdraw(event);
    if (event.question) {
      const session = await this.#host.open(event.session);
      const current = this.#events.get(event.id);
      if (!current || current.stage === 'settled') return;
      if (!openRequest(session?.state.inputNeeded, event)) return this.#settle(current);
    }
    if (event.stage === 'waiting') return this.#wait(event);
    for (const [id, state] of Object.entries(event.receivers)) {
      const receiver = this.#receivers.get(id);
      if (state === 'sending' && receiver && deduplicates(receiver)) void this.#send(event, receiver);
      else if (state === 'sending') this.#events.change(event.id, { receivers: { ...event.receivers, [id]: 'sent' } });
    }
    this.#dropIfDone(event.id);
  }

  #failed({ id }: OpenEvent, error: unknown): void {
    this.#host.logger.log('error', 'a notification could not be resumed', { event: id, error: String(error) });
  }

  async #test(receiver: StoredReceiver): Promise<{ readonly ok: boolean; readonly problem?: string }> {
    const message = testMessage(crypto.randomUUID());
    if (receiver.kind === 'page') {
      const client = this.#views.showing().find((each) => each.receiver === receiver.id);
      if (!client) return { ok: false, problem: 'This browser shows no notifications now: open the page there.' };
      this.#host.notify(client.caller, NOTIFIED_METHOD, { ...message });
      return { ok: true };
    }
    const outcome = await this.#deliveries.send(receiver, message, { attempts: 1 });
    this.#noted(receiver, outcome);
    if (outcome.kind === 'gone')
      return { ok: false, problem: 'The push service no longer knows this browser, so it was removed.' };
    return outcome.kind === 'sent' ? { ok: true } : { ok: false, problem: outcome.problem };
  }
}
