import { describe, expect, it } from 'vitest';
import { connectProvider } from '../src/index.js';
import { fakeGateway } from '../src/testing.js';
import { connected } from './support/connected.js';

describe('the fake gateway', () => {
  it('speaks on a port too, for providers in other processes', async () => {
    const gateway = fakeGateway({ token: 'ptk-1' });
    const { url, close } = await gateway.listen();
    const provider = connectProvider({
      name: 'bench',
      url,
      token: 'ptk-1',
      tools: { greet: { description: '', run: ({ name }) => `Hello ${name}` } },
    });
    await provider.ready;
    expect(await gateway.call('greet', { name: 'phone' })).toEqual({ kind: 'data', data: 'Hello phone' });
    await provider.close();
    expect(await gateway.next('goodbye')).toMatchObject({ type: 'goodbye' });
    await close();
  });

  it('says what it waited for in vain, and that nobody is bound', async () => {
    const { gateway } = await connected();
    expect(() => fakeGateway().begin('x')).toThrow('wait for `provider.ready`');
    expect(() => gateway.send({ type: 'ack' } as never)).toThrow(TypeError);
  });
});
