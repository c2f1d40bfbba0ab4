import { describe, expect, it } from 'vitest';
import type { TokenStore } from '../src/index.js';
import { fakeGateway } from '../src/testing.js';
import { connecting, eventually } from './support/connected.js';
import { FakeClock, settle } from './support/fake-clock.js';

const CODE = { pairingCode: '847293' };

function memoryStore(token?: string): TokenStore & { readonly saved: (string | undefined)[] } {
  const saved: (string | undefined)[] = [token];
  return { saved, load: () => saved.at(-1), save: (next) => void saved.push(next) };
}

describe('pairing', () => {
  it('asks the person for the code, says who asks, and keeps the token', async () => {
    const store = memoryStore();
    const prompts: string[] = [];
    const pairing = {
      store,
      code: async (prompt: string) => {
        prompts.push(prompt);
        return ' 847 293 ';
      },
    };
    const { gateway, provider, states } = connecting({ pairing }, CODE);
    await provider.ready;
    expect(states.map(({ at }) => at)).toEqual(['connecting', 'pairing', 'ready']);
    expect(prompts).toEqual(['Type the code.']);
    expect(gateway.received.slice(0, 2)).toEqual([
      { type: 'auth', mode: 'pair', name: 'bench' },
      { type: 'auth.confirm', code: '847293' },
    ]);
    expect(store.saved).toEqual([undefined, expect.stringMatching(/^ext-tok-/)]);
  });

  it('is not repeated for a reconnect', async () => {
    let asked = 0;
    const pairing = {
      code: () => {
        asked += 1;
        return '847293';
      },
    };
    const { gateway, provider, states } = connecting({ pairing }, CODE);
    await provider.ready;
    gateway.drop();
    await eventually(() => states.filter(({ at }) => at === 'ready').length === 2);
    expect(asked).toBe(1);
  });

  it('happens again when the kept token is refused, which is then forgotten', async () => {
    const store = memoryStore('ext-tok-of-yesterday');
    const { gateway, provider, states } = connecting({ pairing: { store, code: () => '847293' } }, CODE);
    await provider.ready;
    expect(gateway.received[0]).toEqual({ type: 'auth', token: 'ext-tok-of-yesterday' });
    expect(store.saved).toEqual(['ext-tok-of-yesterday', undefined, expect.stringMatching(/^ext-tok-/)]);
    expect(states.some(({ at }) => at === 'reconnecting')).toBe(false);
  });

  it('asks again after a wrong code, but not for ever', async () => {
    let asked = 0;
    const code = () => {
      asked += 1;
      return asked < 3 ? '000000' : '847293';
    };
    const patient = connecting({ pairing: { code } }, CODE);
    await patient.provider.ready;
    expect(asked).toBe(3);
    const hopeless = connecting({ pairing: { code: () => '000000' } }, CODE);
    await expect(hopeless.provider.ready).rejects.toMatchObject({ code: 'PAIRING_REFUSED' });
  });

  it('ends when the person does not want to', async () => {
    const nobody = connecting({ pairing: { code: () => undefined } }, CODE);
    await expect(nobody.provider.ready).rejects.toMatchObject({ code: 'PAIRING_REFUSED' });
    const failing = connecting({ pairing: { code: () => Promise.reject(new Error('window closed')) } }, CODE);
    await expect(failing.provider.ready).rejects.toThrow('window closed');
    const declined = connecting({ pairing: { code: () => new Promise(() => {}) } }, CODE);
    await eventually(() => declined.states.at(-1)?.at === 'pairing');
    declined.gateway.send({ type: 'error', code: 'AUTH_FAILED', message: 'a person declined', replyTo: 'auth' });
    await expect(declined.provider.ready).rejects.toMatchObject({ code: 'PAIRING_REFUSED' });
  });

  it('asks anew when the code has run out, and tells the old question so', async () => {
    const signals: AbortSignal[] = [];
    const code = (_prompt: string, signal: AbortSignal) => {
      signals.push(signal);
      return signals.length === 1 ? new Promise<string>(() => {}) : '847293';
    };
    const { gateway, provider } = connecting({ pairing: { code } }, CODE);
    await eventually(() => signals.length === 1);
    gateway.drop();
    await provider.ready;
    expect(signals[0]?.aborted).toBe(true);
  });

  it('waits while there is no session that could show a code', async () => {
    const gateway = fakeGateway(CODE);
    gateway.refuseNext('auth', 'INVALID_SESSION', 'there is no session that could show a code');
    const { provider, states } = connecting({ pairing: { code: () => '847293' } }, {}, gateway);
    await provider.ready;
    expect(states.map(({ at }) => at)).toContain('waiting-for-session');
  });

  it('comes after a token that was given', async () => {
    const { gateway, provider } = connecting(
      { token: async () => 'ptk-1', pairing: { code: () => '' } },
      { token: 'ptk-1' },
    );
    await provider.ready;
    expect(gateway.received[0]).toEqual({ type: 'auth', token: 'ptk-1' });
  });

  it('happens again when the session has ended, with the next one that can show a code', async () => {
    const store = memoryStore();
    const asked: number[] = [];
    const code = () => {
      asked.push(asked.length);
      return '847293';
    };
    const { gateway, provider, states } = connecting({ pairing: { store, code } }, CODE);
    await provider.ready;
    const [, token] = store.saved;
    gateway.startSession({ id: 'session-2', label: '' });
    await gateway.endSession('session-1');
    await eventually(() => provider.state.at === 'ready' && provider.state.sessionId === 'session-2');
    expect(asked).toHaveLength(2);
    // It tried the session that was left, then showed the old token once more, and only then bothered the person.
    const said = gateway.received.flatMap(({ type, ...rest }) => (type.startsWith('auth') ? [rest] : []));
    expect(said).toMatchObject([{ mode: 'pair' }, { code: '847293' }, { token }, { mode: 'pair' }, { code: '847293' }]);
    expect(store.saved).toEqual([undefined, token, undefined, expect.stringMatching(/^ext-tok-/)]);
    expect(states.map(({ at }) => at)).not.toContain('closed');
  });

  it('ends with a reason when the session has ended and nobody wants to pair again', async () => {
    const answers = ['847293', undefined];
    const { gateway, provider, states } = connecting({ pairing: { code: () => answers.shift() } }, CODE);
    await provider.ready;
    await gateway.endSession('session-1');
    await eventually(() => provider.state.at === 'closed');
    expect(states.at(-1)).toMatchObject({ error: { code: 'PAIRING_REFUSED' } });
  });

  it('is not tried as fast as possible with a source of ever new tokens that are no good', async () => {
    const clock = new FakeClock();
    let made = 0;
    const token = () => `ptk-${++made}`;
    connecting({ clock, token, pairing: { code: () => '' } }, CODE);
    await settle();
    await clock.advance(10_000);
    expect(made).toBeGreaterThan(2);
    expect(made).toBeLessThan(12);
  });
});
