/** Model servers that do not know an end: the host reads so much of them, and no more. */
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { type ModelApi, modelAgent } from '../../../agents/src/model/backend.js';
import { ANSWER_EVENT_MAX_BYTES } from '../../../agents/src/model/event-stream.js';
import { boundedAnswer } from '../../../agents/src/model/sdk-answer.js';
import { FakeTurn, runTurn } from '../support/fake-turn.js';

const CHUNK = 'x'.repeat(256 * 2 ** 10);
const EVENT_STREAM = { 'content-type': 'text/event-stream' };
/** What lies in buffers between the two sides when one of them hangs up. */
const IN_FLIGHT_MAX_BYTES = 16 * 2 ** 20;

interface Hostile {
  readonly url: string;
  /** How much it could get rid of before it was cut off. */
  readonly sent: () => number;
  /** Whether every line to it was cut. */
  readonly isCutOff: () => boolean;
}

/** A server that begins its answer, and then says the same for ever, as fast as the other side reads. */
async function hostile(head: (response: ServerResponse) => void, text = CHUNK): Promise<Hostile> {
  let sent = 0;
  let open = 0;
  const server = createServer((_request, response) => {
    open += 1;
    response.on('close', () => {
      open -= 1;
    });
    head(response);
    const pump = (): void => {
      while (!response.destroyed && response.write(text)) sent += text.length;
      sent += text.length;
      response.once('drain', pump);
    };
    pump();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
  return { url, sent: () => sent, isCutOff: () => open === 0 };
}

async function failureAt(url: string, kind: ModelApi = 'openai-compatible'): Promise<unknown> {
  const models = [{ id: 'm-1', name: 'M 1' }];
  const agent = modelAgent({ provider: 'm', displayName: 'M', kind, models, retries: 0, baseURL: url });
  return runTurn(agent, new FakeTurn('go')).then(
    () => undefined,
    (error: unknown) => error,
  );
}

describe('a model server', { timeout: 30_000 }, () => {
  it.each<ModelApi>(['openai-compatible', 'openai', 'anthropic'])(
    'with a line that never ends is cut off (%s)',
    async (kind) => {
      const server = await hostile((response) => response.writeHead(200, EVENT_STREAM).write('data: {"x":"'));
      const failure = await failureAt(server.url, kind);
      expect(failure).toMatchObject({ errorType: 'other' });
      expect(String(failure)).toContain('one event of its answer has more than 16 MiB');
      expect(server.sent()).toBeLessThan(ANSWER_EVENT_MAX_BYTES + IN_FLIGHT_MAX_BYTES);
      await expect.poll(server.isCutOff).toBe(true);
    },
  );

  it('with an event of endless lines is cut off just so', async () => {
    const server = await hostile((response) => response.writeHead(200, EVENT_STREAM), `data: ${CHUNK}\n`);
    expect(String(await failureAt(server.url))).toContain('one event of its answer has more than 16 MiB');
    expect(server.sent()).toBeLessThan(ANSWER_EVENT_MAX_BYTES + IN_FLIGHT_MAX_BYTES);
    await expect.poll(server.isCutOff).toBe(true);
  });

  it.each([200, 400, 500])('that answers %i with a text that never ends is cut off', async (status) => {
    const server = await hostile((response) => response.writeHead(status, { 'content-type': 'application/json' }));
    expect(String(await failureAt(server.url))).toContain('its answer has more than 16 MiB');
    expect(server.sent()).toBeLessThan(ANSWER_EVENT_MAX_BYTES + IN_FLIGHT_MAX_BYTES);
    await expect.poll(server.isCutOff).toBe(true);
  });

  it('whose stream says nothing for ever is cut off after so much of it', async () => {
    const server = await hostile((response) => response.writeHead(200, EVENT_STREAM), ': still here\n\n'.repeat(100));
    const limits = { eventMaxBytes: 1_000, totalMaxBytes: 2 ** 20 };
    const answer = boundedAnswer(await fetch(server.url), limits);
    let read = 0;
    const reading = (async () => {
      for await (const chunk of answer.body ?? []) read += chunk.length;
    })();
    await expect(reading).rejects.toThrow('its answer has more than 1 MiB');
    expect(read).toBeLessThanOrEqual(limits.totalMaxBytes);
    await expect.poll(server.isCutOff).toBe(true);
  });

  it('may take its time, and many events, as long as each has an end', async () => {
    const events = Array.from({ length: 500 }, (_, index) => `data: ${index}\n\n`);
    const stream = new ReadableStream({
      start(controller) {
        for (const event of events) controller.enqueue(Buffer.from(event));
        controller.close();
      },
    });
    const response = new Response(stream, { headers: EVENT_STREAM });
    const answer = boundedAnswer(response, { eventMaxBytes: 16, totalMaxBytes: 2 ** 20 });
    expect(await answer.text()).toBe(events.join(''));
  });
});
