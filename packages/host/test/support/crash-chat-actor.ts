/**
 * An actor that works with several chats at once: it opens some, as forks, beside others or with a first message, watches
 * every chat that a session lists, and disposes of some. What a kill left without an answer it asks for again.
 */
import { channelKind, defaultChatUri, ErrorCode, type SessionState } from '@atrium/protocol/ahp-1';
import { PlainActor } from './crash-plain-actor.js';
import { CRASH_PROMPTS } from './crash-script.js';
import { workOnce } from './crash-work.js';
import { furtherChat, isFurtherChat, sessionOf } from './fuzz-chats.js';
import type { Random } from './fuzz-random.js';
import { type Intent, type Seen, saidInChat, seenBy, seenOfChat } from './fuzz-speech.js';

/** Chats of people that a session has at a time, beside its default one. */
const CHATS_PER_SESSION = 4;
const OPENS = 0.12;
const DISPOSES = 0.02;

interface Asked {
  readonly method: 'createChat' | 'disposeChat';
  readonly params: object;
  /** The connection that it was sent on last. */
  sentOn: number;
}

export class ChatActor extends PlainActor {
  /** Every chat that it ever asked for. */
  readonly names = new Set<string>();
  readonly wrong: string[] = [];
  /** What has no answer yet, by chat. */
  readonly #asked = new Map<string, Asked>();
  readonly #subscribing = new Set<string>();
  /** Calls of workers that it has allowed. */
  readonly #allowed = new Set<string>();
  #connection = 0;

  constructor(clientId: string) {
    super(clientId, ['1.0.0']);
  }

  override get violations() {
    return [...super.violations, ...this.wrong.map((what) => `${this.clientId}: ${what}`)];
  }

  /** Its sessions, and the further chats in them that people write in. */
  override get sessions(): [uri: string, seen: Seen][] {
    const { client } = this;
    const sessions = [...this.watched].flatMap((uri): [string, Seen][] => {
      const seen = seenBy(client, uri);
      return seen ? [[uri, seen]] : [];
    });
    return [...sessions, ...this.#chats().flatMap((uri) => this.#seen(uri))];
  }

  #seen(chat: string): [uri: string, seen: Seen][] {
    const seen = seenOfChat(this.client, chat);
    return seen ? [[chat, { ...seen, isReady: true }]] : [];
  }

  #chats(session?: string): string[] {
    const own = [...this.client.channels.keys()].filter(isFurtherChat);
    return session === undefined ? own : own.filter((chat) => sessionOf(chat) === session);
  }

  #listed(session: string): readonly string[] | undefined {
    const state = this.client.channels.get(session)?.state as SessionState | undefined;
    return state?.chats.map(({ resource }) => resource);
  }

  override enter(port: number): void {
    this.#connection += 1;
    this.#subscribing.clear();
    super.enter(port);
  }

  /** Others create the sessions. */
  protected override create(uri: string): void {
    for (const channel of [uri, defaultChatUri(uri)]) this.subscribe(channel);
  }

  override leave(uri: string): void {
    const listed = this.#listed(uri) ?? [];
    super.leave(uri);
    for (const chat of listed) this.client.unsubscribe(chat);
    for (const chat of this.#asked.keys()) if (sessionOf(chat) === uri) this.#asked.delete(chat);
  }

  override ask(place: string, intent: Intent): void {
    if (!isFurtherChat(place)) return super.ask(place, intent);
    const { channel, action } = saidInChat(this.client, place, intent) ?? {};
    if (channel !== undefined && action) this.client.dispatch(channel, action);
  }

  /** A host does not answer what is said in a chat that is gone. */
  override get undecided(): number {
    return this.#pending.length + this.#asked.size;
  }

  get #pending(): string[] {
    const { pending, dispatched } = this.client;
    const actions = [...pending].flatMap((clientSeq) => dispatched[clientSeq - 1] ?? []);
    const isGone = (channel: string) => channelKind(channel) === 'chat' && !this.client.channels.has(channel);
    return actions.flatMap(({ channel, action }) => (isGone(channel) ? [] : `${action.type} on ${channel}`));
  }

  /** What it waits for, in words. */
  get waiting(): string {
    return [...this.#pending, ...[...this.#asked].map(([chat, { method }]) => `${method} of ${chat}`)].join(', ');
  }

  workOnce(random: Random): void {
    this.catchUp();
    const roll = random.next();
    if (this.isOpen && roll < OPENS) this.#open(random);
    else if (this.isOpen && roll < OPENS + DISPOSES) this.#dispose(random);
    else workOnce(this, random);
  }

  /** Watches what is listed, lets workers do what they ask for, and asks again for what a kill left without an answer. */
  catchUp(): void {
    if (!this.isOpen) return;
    for (const [chat, asked] of this.#asked) if (asked.sentOn !== this.#connection) this.#send(chat, asked);
    for (const session of this.watched) {
      for (const chat of this.#listed(session) ?? []) {
        if (!this.client.channels.has(chat) && !this.#subscribing.has(chat)) this.#watchChat(session, chat);
        if (chat !== defaultChatUri(session) && !isFurtherChat(chat)) this.#allow(chat);
      }
    }
  }

  #allow(worker: string): void {
    const { turn, calls = [] } = seenOfChat(this.client, worker) ?? {};
    for (const { toolCallId, status } of calls) {
      if (turn === undefined || status !== 'pending-confirmation' || this.#allowed.has(toolCallId)) continue;
      this.#allowed.add(toolCallId);
      const said = saidInChat(this.client, worker, { wants: 'confirm', turnId: turn, toolCallId, approved: true });
      if (said) this.client.dispatch(said.channel, said.action);
    }
  }

  #watchChat(session: string, chat: string): void {
    this.#subscribing.add(chat);
    this.client.subscribe(chat, ({ error }) => {
      this.#subscribing.delete(chat);
      if (error && this.#listed(session)?.includes(chat))
        this.wrong.push(`${session} lists ${chat}, which cannot be subscribed to: ${error.message}`);
    });
  }

  #open(random: Random): void {
    const session = random.pick([...this.watched]);
    if (session === undefined || !seenBy(this.client, session)?.isReady) return;
    const asking = [...this.#asked.keys()].filter((chat) => sessionOf(chat) === session);
    if (this.#chats(session).length + asking.length >= CHATS_PER_SESSION) return;
    const chat = furtherChat(session, this.names.size + 1);
    const from = random.pick([defaultChatUri(session), ...this.#chats(session)]) ?? '';
    const turnId = random.pick(seenOfChat(this.client, from)?.turns ?? []);
    const kind = random.pick(['fork', 'sideChat', 'neither']);
    const source = turnId !== undefined && kind !== 'neither' && { source: { kind, chat: from, turnId } };
    const message = { text: random.pick(CRASH_PROMPTS), origin: { kind: 'user' } };
    const first = random.chance(0.5) && { initialMessage: message };
    this.names.add(chat);
    this.#ask(chat, { method: 'createChat', params: { channel: session, chat, ...source, ...first } });
  }

  #dispose(random: Random): void {
    const chat = random.pick(this.#chats().filter((each) => !this.#asked.has(each)));
    if (chat === undefined) return;
    this.client.leaving.add(chat);
    this.#ask(chat, { method: 'disposeChat', params: { channel: chat } });
  }

  #ask(chat: string, request: Pick<Asked, 'method' | 'params'>): void {
    const asked = { ...request, sentOn: 0 };
    this.#asked.set(chat, asked);
    this.#send(chat, asked);
  }

  /** The source of a chat may be gone; so may the chat, when it is asked again to go. */
  #send(chat: string, asked: Asked): void {
    asked.sentOn = this.#connection;
    this.client.request(asked.method, asked.params, ({ error }) => {
      this.#asked.delete(chat);
      if (error && error.code !== ErrorCode.NotFound)
        return this.wrong.push(`${asked.method} of ${chat}: ${error.message}`);
      const listed = this.#listed(sessionOf(chat));
      const isMeant = asked.method === 'createChat' && !error;
      if (listed && listed.includes(chat) !== isMeant)
        this.wrong.push(`${chat} is ${isMeant ? 'not' : 'still'} listed`);
    });
  }
}
