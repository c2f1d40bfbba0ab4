/** A session with several chats, and people of the public protocol around it. */
import { MemoryLog } from '@atrium/core/log/memory-log.js';
import type { AgentInfo, ChatState, SessionState } from '@atrium/protocol/ahp-1';
import { FakeClock } from './fake-clock.js';
import { nativeClient, nativeSession } from './native-client.js';
import { PuppetAgent } from './puppet-agent.js';
import { startHost } from './session-fixture.js';
import type { RawClient, TestHost, TestHostOptions } from './test-host.js';

export const SEVERAL: Partial<AgentInfo> = { capabilities: { multipleChats: { fork: true, sideChat: true } } };

export interface ChatFixture {
  readonly log: MemoryLog;
  readonly clock: FakeClock;
  readonly host: TestHost;
  readonly client: RawClient;
  readonly agent: PuppetAgent;
  /** The session. */
  readonly uri: string;
  /** Its default chat. */
  readonly chat: string;
  /** Opens a further chat, and subscribes to it. */
  open(name: string, params?: object): Promise<string>;
}

export interface ChatFixtureOptions extends Omit<TestHostOptions, 'clock'> {
  readonly log?: MemoryLog;
  readonly session?: object;
}

/** The session has the puppet agent when `session` names it, otherwise the scripted one. */
export async function openChats({ session, ...options }: ChatFixtureOptions = {}): Promise<ChatFixture> {
  const { log = new MemoryLog() } = options;
  const clock = new FakeClock();
  const agent = new PuppetAgent('puppet', SEVERAL);
  const host = await startHost({ ...options, log, clock, agents: [agent] });
  const client = await nativeClient(host, 'desk');
  const { uri, chat } = await nativeSession(client, session);
  const open = async (name: string, params: object = {}) => {
    const opened = `ahp-chat:/${name}`;
    await client.request('createChat', { channel: uri, chat: opened, ...params });
    await client.request('subscribe', { channel: opened });
    return opened;
  };
  return { log, clock, host, client, agent, uri, chat, open };
}

export async function chatsOf(client: RawClient, uri: string): Promise<string[]> {
  return (await client.state<SessionState>(uri)).chats.map(({ resource }) => resource);
}

export function said({ turns }: ChatState): string[] {
  return turns.map(({ message }) => message.text);
}
