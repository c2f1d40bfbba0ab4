import { afterEach, describe, expect, it, vi } from 'vitest';
import { connectProvider, webSocketTransport } from '../src/index.js';
import { settingsOf } from '../src/options.js';
import { fakeGateway } from '../src/testing.js';
import { connecting } from './support/connected.js';

afterEach(() => {
  vi.unstubAllEnvs();
  vi.unstubAllGlobals();
});

describe('options', () => {
  it('need something to show to a gateway elsewhere', () => {
    vi.stubEnv('TAP_PROVIDER_TOKEN', undefined);
    vi.stubEnv('ATRIUM_PROVIDER_TOKEN', undefined);
    expect(() => connectProvider({ name: 'bench' })).toThrow(/NO_TOKEN: .*TAP_PROVIDER_TOKEN/);
  });

  it('are checked at once, where their author stands', () => {
    const { transport } = fakeGateway();
    expect(() => connectProvider({ name: '../x', transport })).toThrow(/INVALID_OPTIONS: hello: \/name/);
    const tools = { 'two words': { description: '', run: () => 1 } };
    expect(() => connectProvider({ name: 'bench', transport, tools })).toThrow(/INVALID_OPTIONS: hello: \/tools\/0/);
    const gates = [{ match: { branch: 'main' }, check: () => ({ decision: 'allow' as const }) }];
    expect(() => connectProvider({ name: 'bench', transport, gates: gates as never })).toThrow('INVALID_OPTIONS');
  });

  it('come from the environment when the host has started the provider', async () => {
    vi.stubEnv('TAP_PROVIDER_TOKEN', 'ptk-env');
    expect(settingsOf({ name: 'bench' })).toMatchObject({ token: 'ptk-env', isTrusted: false });
    vi.stubEnv('TAP_PROVIDER_TOKEN', '');
    vi.stubEnv('ATRIUM_PROVIDER_TOKEN', 'ptk-other');
    expect(settingsOf({ name: 'bench' })).toMatchObject({ token: 'ptk-other' });
    const gateway = fakeGateway({ token: 'ptk-other' });
    const { url, close } = await gateway.listen();
    vi.stubEnv('TAP_GATEWAY_URL', url);
    const provider = connectProvider({ name: 'bench' });
    await provider.ready;
    await provider.close();
    vi.stubEnv('TAP_GATEWAY_URL', undefined);
    vi.stubEnv('TAP_GATEWAY_PORT', new URL(url).port);
    const again = connectProvider({ name: 'bench' });
    await again.ready;
    await again.close();
    await close();
  });

  it('mean the WebSocket that is built in, where there is one', async () => {
    const { WebSocket } = (await import('ws' as string)) as { WebSocket: new (url: string) => object };
    const opened: string[] = [];
    class BuiltIn extends WebSocket {
      constructor(url: string) {
        super(url);
        opened.push(url);
      }
    }
    vi.stubGlobal('WebSocket', BuiltIn);
    const { url, close } = await fakeGateway().listen();
    const provider = connectProvider({ name: 'bench', transport: webSocketTransport(url) });
    await provider.ready;
    await provider.close();
    await close();
    expect(opened).toEqual([url]);
  });

  it('may have a listener that fails', async () => {
    const { provider, logged } = connecting({
      onState: () => {
        throw new Error('no');
      },
    });
    await provider.ready;
    expect(logged.length).toBeGreaterThan(0);
  });
});
