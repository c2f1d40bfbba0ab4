/** A session whose agent changes files with real tools, and a client of 1.0 that goes back in it. */
import { pathToFileURL } from 'node:url';
import type { Log } from '@atrium/core/log/log.js';
import {
  type ChatState,
  REWIND_METHOD,
  REWIND_PREVIEW_METHOD,
  type RewindKind,
  type RewindPreview,
  type RewindResult,
  type Rewound,
  rewoundOf,
  type SessionState,
  UNDO_REWIND_METHOD,
} from '@atrium/protocol/ahp-1';
import { builtinTools } from '../../src/workspace/tools/builtin.js';
import { SEVERAL } from './chat-fixture.js';
import { nativeClient, nativeSession, userMessage } from './native-client.js';
import { PuppetAgent } from './puppet-agent.js';
import { tempFolder } from './temp-folder.js';
import { type RawClient, startTestHost, type TestHost } from './test-host.js';

export interface RewindFixtureOptions {
  readonly folder: string;
  readonly data?: string;
  readonly log?: Log;
  /** A session that is there already. */
  readonly uri?: string;
  /** The client, in case there are others. */
  readonly clientId?: string;
}

type Call = (name: string, input: object) => Promise<void>;

export class RewindFixture {
  #ids = 0;

  private constructor(
    readonly host: TestHost,
    readonly client: RawClient,
    readonly agent: PuppetAgent,
    readonly uri: string,
    readonly chat: string,
    readonly folder: string,
    readonly data: string,
  ) {}

  static async open({ folder, log, uri, clientId = 'desk', ...given }: RewindFixtureOptions): Promise<RewindFixture> {
    const data = given.data ?? (await tempFolder());
    const agent = new PuppetAgent('puppet', SEVERAL);
    const tools = builtinTools().map((tool) => ({ ...tool, confirmation: () => undefined }));
    const host = await startTestHost({
      tools,
      agents: [agent],
      dataFolder: data,
      terminals: false,
      ...(log && { log }),
    });
    const client = await nativeClient(host, clientId);
    const place = { provider: 'puppet', workingDirectories: [pathToFileURL(folder).href] };
    const made = uri === undefined ? await nativeSession(client, place) : await opened(client, uri);
    return new RewindFixture(host, client, agent, made.uri, made.chat, folder, data);
  }

  /** Another session of the same host, in another folder. */
  async another(folder: string): Promise<RewindFixture> {
    const { host, client, agent, data } = this;
    const place = { provider: 'puppet', workingDirectories: [pathToFileURL(folder).href] };
    const { uri, chat } = await nativeSession(client, place);
    return new RewindFixture(host, client, agent, uri, chat, folder, data);
  }

  /** Begins a turn; the returned function ends it. */
  async begin(text: string, chat = this.chat): Promise<{ id: string; call: Call; end(): Promise<void> }> {
    const id = `t${++this.#ids}-${crypto.randomUUID().slice(0, 4)}`;
    const index = this.agent.turns.length;
    this.client.dispatch(chat, { type: 'chat/turnStarted', turnId: id, message: userMessage(text) } as never);
    const { turn, finish } = await this.agent.turn(index);
    const call: Call = async (name, input) => {
      const outcome = await turn.callTool({ name, input });
      if (outcome.kind !== 'completed') throw new Error(JSON.stringify(outcome));
    };
    const end = async () => {
      finish();
      await this.client.action(chat, (action) => action.type === 'chat/turnComplete' && action.turnId === id);
    };
    return { id, call, end };
  }

  async turn(text: string, work: (call: Call) => Promise<void> = async () => {}, chat = this.chat): Promise<string> {
    const { id, call, end } = await this.begin(text, chat);
    await work(call);
    await end();
    return id;
  }

  preview(turnId: string, channel = this.chat): Promise<RewindPreview> {
    return this.client.request<RewindPreview>(REWIND_PREVIEW_METHOD, { channel, turnId });
  }

  rewind(turnId: string, what?: RewindKind, more: object = {}): Promise<RewindResult> {
    return this.client.request<RewindResult>(REWIND_METHOD, {
      channel: this.chat,
      turnId,
      ...(what && { what }),
      ...more,
    });
  }

  async undo(): Promise<string> {
    return (await this.client.request<{ message: string }>(UNDO_REWIND_METHOD, { channel: this.uri })).message;
  }

  /** What its messages say. */
  async said(chat = this.chat): Promise<string[]> {
    return (await this.client.state<ChatState>(chat)).turns.map(({ message }) => message.text);
  }

  async draft(): Promise<string | undefined> {
    return (await this.client.state<ChatState>(this.chat)).draft?.text;
  }

  async shown(): Promise<Rewound | undefined> {
    return rewoundOf((await this.client.state<SessionState>(this.uri))._meta);
  }

  async chats(): Promise<string[]> {
    return (await this.client.state<SessionState>(this.uri)).chats.map(({ resource }) => resource);
  }
}

async function opened(client: RawClient, uri: string): Promise<{ uri: string; chat: string }> {
  const { defaultChat = '' } = await client.state<SessionState>(uri);
  await client.request('subscribe', { channel: defaultChat });
  return { uri, chat: defaultChat };
}
