import { describe, expect, it } from 'vitest';
import { FIRST_HOST_REQUEST_ID, HOST_REQUEST_TIMEOUT_MS } from '../../src/limits.js';
import { HostRequestQueue } from '../../src/wire/host-requests.js';
import { FakeClock } from '../support/fake-clock.js';
import { startHost } from '../support/session-room.js';
import { ROOT } from '../support/test-host.js';

function queue() {
  const clock = new FakeClock();
  const posted: { id: number; method: string; params: object }[] = [];
  const requests = new HostRequestQueue(clock, (message) => void posted.push(message as (typeof posted)[number]));
  return { clock, posted, requests };
}

const params = { channel: ROOT, uri: 'virtual:/plugin' };

describe('requests of the host', () => {
  it('[REL-023][AHP-005] have numbers from 1,000,000,001 on, one after the other', async () => {
    const { posted, requests } = queue();
    void requests.send('resourceRead', params);
    void requests.send('resourceList', params);
    expect(posted.map(({ id }) => id)).toEqual([1_000_000_001, 1_000_000_002]);
    expect(FIRST_HOST_REQUEST_ID).toBe(1_000_000_001);
    expect(posted[0]).toEqual({ jsonrpc: '2.0', id: 1_000_000_001, method: 'resourceRead', params });
  });

  it('[AHP-006][REL-023] take the answer with their number, in whatever order they come', async () => {
    const { requests } = queue();
    const [first, second] = [requests.send('resourceRead', params), requests.send('resourceList', params)];
    requests.answered({ kind: 'success', id: 1_000_000_002, result: 'second' });
    requests.answered({ kind: 'success', id: 1_000_000_001, result: 'first' });
    expect(await Promise.all([first, second])).toEqual(['first', 'second']);
  });

  it('[REL-023] a second answer, one to nobody, and one without a number do nothing', async () => {
    const { requests } = queue();
    const answer = requests.send('resourceRead', params);
    const error = { code: -32601, message: 'no' };
    requests.answered({ kind: 'failure', id: null, error });
    requests.answered({ kind: 'success', id: 7, result: 'not yours' });
    requests.answered({ kind: 'success', id: 1_000_000_001, result: 'yes' });
    requests.answered({ kind: 'failure', id: 1_000_000_001, error });
    expect(await answer).toBe('yes');
  });

  it('fail with the error of the client', async () => {
    const { requests } = queue();
    const answer = requests.send('resourceRead', params);
    requests.answered({ kind: 'failure', id: 1_000_000_001, error: { code: -32009, message: 'no', data: { a: 1 } } });
    await expect(answer).rejects.toMatchObject({ code: -32009, message: 'no', data: { a: 1 } });
  });

  it('fail when no answer comes in time, and not a moment earlier', async () => {
    const { clock, requests } = queue();
    let outcome = 'waiting';
    const answer = requests.send('resourceRead', params).catch((error) => {
      outcome = error.message;
    });
    await clock.advance(HOST_REQUEST_TIMEOUT_MS - 1);
    expect(outcome).toBe('waiting');
    await clock.advance(1);
    await answer;
    expect(outcome).toContain('did not answer');
    expect(clock.pending).toBe(0);
  });

  it('fail when the client leaves, and leave no timer behind', async () => {
    const { clock, requests } = queue();
    const answers = [requests.send('resourceRead', params), requests.send('resourceList', params)];
    requests.abandon();
    for (const answer of answers) await expect(answer).rejects.toThrow('disconnected');
    expect(clock.pending).toBe(0);
  });
});

describe('numbers of both directions', () => {
  it('[AHP-008] have nothing to do with each other: a client may use the numbers of the host', async () => {
    const host = await startHost();
    const client = await host.client();
    client.send({ id: FIRST_HOST_REQUEST_ID, method: 'listSessions', params: { channel: ROOT } });
    const answer = await client.until(({ id }) => id === FIRST_HOST_REQUEST_ID);
    expect(answer).toMatchObject({ result: { items: [] } });
  });
});
