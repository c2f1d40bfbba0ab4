/** A client that is connected to a fake host, with time and chance in the hands of the test. */
import { type Client, type ConnectOptions, connect, memoryPair } from '../../src/index.js';
import { FakeClock, settle } from './fake-clock.js';
import { FakeHost } from './fake-host.js';
import { chat, ONE, OTHER_SESSION, SESSION, session, TWO } from './states.js';

export interface Scene {
  readonly host: FakeHost;
  readonly clock: FakeClock;
  readonly client: Client;
  /** What the client had to ignore. */
  readonly logged: string[];
  /** Ends the connection and lets the client come back. */
  bounce(): Promise<void>;
  /** Ends the connection. */
  drop(): Promise<void>;
}

export function newHost(): FakeHost {
  const host = new FakeHost();
  for (const uri of [SESSION, OTHER_SESSION]) host.states.set(uri, session(uri));
  for (const uri of [ONE, TWO]) host.states.set(uri, chat(uri));
  return host;
}

export async function connected(options: Partial<ConnectOptions> = {}, host = newHost()): Promise<Scene> {
  const clock = new FakeClock();
  const logged: string[] = [];
  const transport = () => {
    const [near, far] = memoryPair();
    host.accept(far);
    return near;
  };
  const fixed = { transport, clock, random: () => 0, clientId: 'me', log: (message: string) => logged.push(message) };
  const client = await connect({ ...fixed, ...options } as ConnectOptions);
  const drop = async () => {
    host.connection.transport.close();
    await settle();
  };
  const bounce = async () => {
    await drop();
    await clock.advance(2_000);
  };
  return { host, clock, client, logged, bounce, drop };
}
