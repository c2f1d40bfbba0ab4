/** One client of a fuzzed host, of whatever version, and the wire it is on. */
import { defaultChatUri } from '@atrium/protocol/ahp-1';
import type { Host } from '../../src/host-options.js';
import { randomIntent, randomSessionsV1Action } from './fuzz-actions.js';
import { isFurtherChat } from './fuzz-chats.js';
import { FuzzClient } from './fuzz-client.js';
import { FuzzLink } from './fuzz-link.js';
import type { Random } from './fuzz-random.js';
import { FUZZ_PROMPTS } from './fuzz-script.js';
import { FuzzSessionsV1Client } from './fuzz-sessions-v1-client.js';
import { said, saidInChat, seenBy, seenOfChat } from './fuzz-speech.js';

export class FuzzPeer {
  #link: FuzzLink | undefined;

  constructor(
    readonly client: FuzzClient | FuzzSessionsV1Client,
    private readonly random: Random,
  ) {}

  /** Comes back, one way or another, if it is away. */
  connect(host: Host): void {
    if (this.#link) return;
    const link = new FuzzLink();
    this.#link = link;
    host.connect(link.transport);
    const post = (text: string) => link.post(text);
    const manner = this.random.pick(['resume', 'resume', 'resume', 'snapshot', 'anew'] as const);
    if (this.client instanceof FuzzClient) this.client.attach(post, manner);
    else this.client.attach(post);
  }

  drop(): void {
    this.#link?.cut();
    this.#link = undefined;
    this.client.detach();
  }

  stall(stalled: boolean): void {
    if (this.#link) this.#link.isStalled = stalled;
  }

  /** Reads some of what is there, perhaps nothing. */
  readSome(): void {
    this.#leaveCut();
    const { unread = [] } = this.#link ?? {};
    this.#read(this.random.chance(0.6) ? unread.length : this.random.below(unread.length + 1));
  }

  readAll(): void {
    this.#leaveCut();
    this.#read(Number.POSITIVE_INFINITY);
  }

  #read(count: number): void {
    const { unread = [], isClosed } = this.#link ?? {};
    for (const text of unread.splice(0, count)) this.client.receive(text);
    if (isClosed && unread.length === 0) this.drop();
  }

  /** Sessions-v1 cannot be told of a cut: the host hangs up in the middle of a tick, and the rest of that has no order. */
  #leaveCut(): void {
    if (this.#link?.isClosed && this.client instanceof FuzzSessionsV1Client) this.drop();
  }

  /** Does something to one of the sessions that it sees. */
  act(): void {
    const { client, random } = this;
    const name = `${client.clientId}-${client.dispatched.length + 1}`;
    if (client instanceof FuzzSessionsV1Client) {
      const [uri, mirror] = random.pick([...client.sessions]) ?? [];
      const request = uri && mirror && randomSessionsV1Action(mirror.state, random, name);
      if (uri && request) client.dispatch(uri, request);
      return;
    }
    const uri = random.pick(client.watched);
    const seen = uri === undefined ? undefined : seenBy(client, uri);
    const intent = seen && randomIntent({ seen, random, name });
    if (uri === undefined || !intent) return;
    const { channel, action } = said(client, uri, intent);
    client.dispatch(channel, action);
  }

  /** Whether it opens chats: those that call things otherwise are not asked to. */
  get mayOpenChats(): boolean {
    const { client } = this;
    return client instanceof FuzzClient && client.isOpen && client.hasChats && client.names === undefined;
  }

  /** Opens a chat in a session, perhaps as a copy of another or with a message. */
  openChat(session: string, chat: string, opened: () => void): void {
    const { client, random } = this;
    if (!(client instanceof FuzzClient) || !this.mayOpenChats) return;
    const turnId = random.pick(seenBy(client, session)?.turns ?? []);
    const kind = client.version < '0.7' ? {} : { kind: 'fork' };
    const isFork = turnId !== undefined && random.chance(0.5);
    const source = isFork && { source: { ...kind, chat: defaultChatUri(session), turnId } };
    const message = { text: random.pick(FUZZ_PROMPTS), origin: { kind: 'user' } };
    const first = random.chance(0.5) && { initialMessage: message };
    client.request('createChat', { channel: session, chat, ...source, ...first }, ({ error }) => {
      if (error) return;
      opened();
      client.subscribe(chat);
    });
  }

  closeChat(chat: string, closed: () => void): void {
    const { client } = this;
    if (client instanceof FuzzClient && this.mayOpenChats)
      client.request('disposeChat', { channel: chat }, ({ error }) => error ?? closed());
  }

  watchChat(chat: string): void {
    if (this.client instanceof FuzzClient && this.mayOpenChats) this.client.subscribe(chat);
  }

  /** Does something to a further chat that it sees. */
  actInChat(): void {
    const { client, random } = this;
    if (!(client instanceof FuzzClient)) return;
    const chat = random.pick([...client.channels.keys()].filter(isFurtherChat));
    const seen = chat === undefined ? undefined : seenOfChat(client, chat);
    const name = `${client.clientId}-${client.dispatched.length + 1}`;
    const intent = seen && randomIntent({ seen, random, name });
    const wanted = chat !== undefined && intent && saidInChat(client, chat, intent);
    if (wanted) client.dispatch(wanted.channel, wanted.action);
  }

  /** Sends something again that it has sent before. */
  repeat(): void {
    const { client, random } = this;
    if (client.isOpen && client.dispatched.length > 0) client.repeat(random.between(1, client.dispatched.length));
  }

  /** Compares all its mirrors with fresh snapshots. */
  probe(): void {
    const { client } = this;
    if (!client.isOpen) return;
    const uris = client instanceof FuzzClient ? client.channels.keys() : client.sessions.keys();
    for (const uri of uris) client.probe(uri);
    if (client instanceof FuzzClient) client.readInputs();
  }

  /** Subscribes to a session, or leaves it. */
  turnTo(uri: string): void {
    const { client } = this;
    if (!client.isOpen) return;
    const isWatching = client instanceof FuzzClient ? client.watched.includes(uri) : client.sessions.has(nameInV1(uri));
    if (!isWatching) return this.subscribe(uri);
    if (client instanceof FuzzClient) for (const channel of this.#some(uri)) client.unsubscribe(channel);
    else client.unsubscribe(nameInV1(uri));
  }

  subscribe(uri: string): void {
    const { client } = this;
    if (client instanceof FuzzClient) for (const channel of this.#channelsOf(uri)) client.subscribe(channel);
    else client.subscribe(nameInV1(uri));
  }

  /** A session and its conversation may be two channels. Clients ask for them in any order. */
  #channelsOf(uri: string): string[] {
    const isTwo = this.client instanceof FuzzClient && this.client.hasChats;
    if (!isTwo) return [uri];
    const channels = [uri, defaultChatUri(uri)];
    return this.random.chance(0.5) ? channels : channels.toReversed();
  }

  /** Of the two, both or one. */
  #some(uri: string): string[] {
    const channels = this.#channelsOf(uri);
    return this.random.chance(0.7) ? channels : channels.slice(0, 1);
  }
}

function nameInV1(uri: string): string {
  return uri.replace('ahp-session', 'mock');
}
