/** The way in: opens the first connection and hands out the client. */
import { ROOT_CHANNEL } from '@atrium/protocol';
import { Client } from './client.js';
import { Engine } from './engine.js';
import { ClientClosedError } from './errors.js';
import { type ConnectOptions, settingsOf } from './options.js';

/**
 * Connects to a host. Rejects when the first attempt fails; from then on the client reconnects by itself.
 *
 * ```ts
 * const client = await connect({ url: 'ws://127.0.0.1:9300', token });
 * ```
 */
export async function connect(options: ConnectOptions): Promise<Client> {
  const settings = settingsOf(options);
  const engine = new Engine(settings);
  const initial = [...new Set(settings.initialSubscriptions)].map((uri) => engine.store.add(uri, settings.turns?.last));
  for (const channel of initial) channel.handles = 1;
  // The root tells which sessions are gone, so it is watched as long as the client lives.
  const root = engine.store.find(ROOT_CHANNEL) ?? engine.store.add(ROOT_CHANNEL, undefined);
  root.handles += 1;
  await opened(engine);
  return new Client(engine, initial);
}

function opened({ connection }: Engine): Promise<void> {
  return new Promise((resolve, reject) => {
    const off = connection.statusChanged.on((status) => {
      if (status.at === 'connecting') return;
      off();
      if (status.at === 'open') resolve();
      else reject(status.error ?? new ClientClosedError());
    });
    connection.dial();
  });
}
