/** Our client library on our host, in one process. */
import { connect } from '@atrium/client';
import { describe, expect, it } from 'vitest';
import { transportTo } from '../support/library.js';
import { startTestHost } from '../support/test-host.js';

async function twoClients() {
  const { host } = await startTestHost();
  const client = () => connect({ transport: async () => transportTo(host) });
  return { host, one: await client(), two: await client() };
}

describe('two clients on one session', () => {
  it('see the same turn', async () => {
    const { one, two } = await twoClients();
    const uri = await one.createSession();
    const [mine, theirs] = [await one.subscribe(uri), await two.subscribe(uri)];
    const done = new Promise<void>((resolve) => {
      theirs.onChange((state) => state.turns.length === 1 && resolve());
    });
    await mine.dispatch({ type: 'session/turnStarted', turnId: 't1', userMessage: { text: 'hello' } });
    await done;
    expect(theirs.state.turns[0]?.responseParts).toMatchObject([{ kind: 'markdown', content: 'Hello there' }]);
    await expect.poll(() => mine.confirmed.turns).toEqual(theirs.confirmed.turns);
  });

  it('both learn that it was disposed, and a late action is turned down', async () => {
    const { one, two } = await twoClients();
    const uri = await one.createSession();
    const watching = await one.subscribe(uri);
    const gone = new Promise<void>((resolve) => {
      watching.onGone(() => resolve());
    });
    await two.disposeSession(uri);
    await gone;
    expect(watching.isGone).toBe(true);
    await expect(watching.dispatch({ type: 'session/titleChanged', title: 'ghost' })).rejects.toThrow();
  });

  it('are told why an action that makes no sense was not taken', async () => {
    const { one } = await twoClients();
    const session = await one.subscribe(await one.createSession());
    await expect(session.dispatch({} as never)).rejects.toThrow('an action is an object with a type');
  });
});
