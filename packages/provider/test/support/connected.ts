/** A provider at a fake gateway, ended after the test. */
import { afterEach } from 'vitest';
import { connectProvider, type Provider, type ProviderOptions, type ProviderState } from '../../src/index.js';
import { type FakeGateway, type FakeGatewayOptions, fakeGateway } from '../../src/testing.js';

const open: Provider[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((provider) => provider.close()));
});

export interface Connected {
  readonly gateway: FakeGateway;
  readonly provider: Provider;
  readonly states: ProviderState[];
  readonly logged: string[];
}

/** Not ready yet. */
export function connecting(
  options: Partial<ProviderOptions> = {},
  gatewayOptions: FakeGatewayOptions = {},
  gateway: FakeGateway = fakeGateway(gatewayOptions),
): Connected {
  const states: ProviderState[] = [];
  const logged: string[] = [];
  const provider = connectProvider({
    name: 'bench',
    transport: gateway.transport,
    random: () => 0,
    onState: (state) => states.push(state),
    logger: (message) => logged.push(message),
    ...options,
  });
  open.push(provider);
  return { gateway, provider, states, logged };
}

export async function connected(
  options: Partial<ProviderOptions> = {},
  gatewayOptions: FakeGatewayOptions = {},
): Promise<Connected> {
  const all = connecting(options, gatewayOptions);
  await all.provider.ready;
  return all;
}

/** Generous: the machine may be busy with other tests. */
const PATIENCE_MS = 10_000;

/** Waits until something holds; the gateway and the provider talk in microtasks and short timers. */
export async function eventually(holds: () => boolean, what = 'it'): Promise<void> {
  const end = Date.now() + PATIENCE_MS;
  while (!holds()) {
    if (Date.now() > end) throw new Error(`${what} did not happen in time`);
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
}
