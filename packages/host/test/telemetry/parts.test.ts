/** The parts of telemetry alone: what a failure says, what counts as listening, and a collector that is no help. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { AgentError } from '@atrium/core/contracts/agent.js';
import { systemClock } from '@atrium/core/util/clock.js';
import { silentLogger } from '@atrium/core/util/logger.js';
import { describe, expect, it, onTestFinished } from 'vitest';
import { HttpExporter, TelemetryChannels } from '../../src/telemetry/exporters.js';
import { type Sink, Telemetry } from '../../src/telemetry/telemetry.js';
import { SessionSpans } from '../../src/telemetry/telemetry-service.js';
import { FakeClock } from '../support/fake-clock.js';

/** Takes everything down. */
function listening() {
  const heard: unknown[] = [];
  const take = (payload: unknown) => void heard.push(payload);
  const sink: Sink = {
    wants: () => true,
    traces: take,
    metrics: take,
    logs: (records, encode) => take(encode(records)),
  };
  const telemetry = new Telemetry({ clock: new FakeClock() });
  telemetry.addSink(sink);
  const text = () => {
    telemetry.flush();
    return JSON.stringify(heard);
  };
  return { telemetry, text };
}

describe('a failure', () => {
  it('is told by its kind, not in its words, which may quote anything', async () => {
    const { telemetry, text } = listening();
    const failing = (error: unknown) =>
      telemetry.around('atrium.gate', {}, () => Promise.reject(error)).catch(() => undefined);
    await failing(new TypeError('cannot parse "the secret input"'));
    await failing(new AgentError('auth', 'no to the secret token'));
    await failing('the secret');
    expect(text()).toContain('"message":"TypeError"');
    expect(text()).toContain('"message":"auth"');
    expect(text()).not.toContain('secret');
  });

  it('is cut in log records, and so are pairing codes, all of them', () => {
    const { telemetry, text } = listening();
    const logger = telemetry.alongside(silentLogger);
    logger.log('warn', 'type 123 456 or 654 321', { error: 'x'.repeat(100_000) });
    expect(text()).not.toMatch(/\d{3} \d{3}/);
    expect(text().length).toBeLessThan(2_000);
  });
});

describe('the tokens of a turn', () => {
  it('are counted once, although agents say how many there were so far', () => {
    const { telemetry, text } = listening();
    const session = { uri: 'ahp-session:/a', state: { provider: 'p' } } as never;
    const spans = new SessionSpans(session, telemetry);
    const chat = { uri: 'ahp-chat:/a' };
    const happens = (action: object) => spans.observe({ action, chat } as never);
    for (const turnId of ['t1', 't2']) {
      happens({ type: 'chat/turnStarted', turnId });
      for (const inputTokens of [100, 250, 250]) happens({ type: 'chat/usage', turnId, usage: { inputTokens } });
      happens({ type: 'chat/turnComplete', turnId });
    }
    expect(text()).toContain('"count":"4","sum":500,"min":100,"max":150');
  });
});

interface SentSpan {
  readonly name: string;
  readonly status: { readonly message?: string };
}

/** Every span in what was sent, in the order in which they ended. */
function spansIn(sent: unknown): SentSpan[] {
  if (typeof sent !== 'object' || sent === null) return [];
  if ('status' in sent && 'name' in sent) return [sent as SentSpan];
  return Object.values(sent).flatMap(spansIn);
}

describe('the turns of two chats', () => {
  it('are spans of their own, with their own calls and tokens', async () => {
    const { telemetry, text } = listening();
    const spans = new SessionSpans({ uri: 'ahp-session:/a', state: { provider: 'p' } } as never, telemetry);
    const happens = (chat: string, action: object) => spans.observe({ action, chat: { uri: chat } } as never);
    for (const chat of ['one', 'two']) {
      happens(chat, { type: 'chat/turnStarted', turnId: chat });
      happens(chat, { type: 'chat/toolCallStart', turnId: chat, toolCallId: 'c', toolName: 'look' });
    }
    happens('one', { type: 'chat/usage', turnId: 'one', usage: { inputTokens: 100 } });
    happens('one', { type: 'chat/turnComplete', turnId: 'one' });
    happens('two', { type: 'chat/usage', turnId: 'two', usage: { inputTokens: 100 } });
    happens('two', { type: 'chat/toolCallComplete', turnId: 'two', toolCallId: 'c', result: { success: true } });
    await spans.close();
    expect(text()).toContain('"count":"2","sum":200,"min":100,"max":100');
    const ended = spansIn(JSON.parse(text())).map(({ name, status }) => [name, status.message]);
    expect(ended).toEqual([
      ['atrium.tool_call', 'cancelled'],
      ['atrium.turn', undefined],
      ['atrium.tool_call', undefined],
      ['atrium.turn', 'cancelled'],
    ]);
  });
});

describe('a channel for log records', () => {
  it('is not listened to because somebody once asked for it', () => {
    let isWatched = true;
    const channels = new TelemetryChannels({ notify: () => {}, isWatched: () => isWatched });
    channels.open('ahp-otlp://logs?level=warn');
    expect(channels.wants('logs')).toBe(true);
    isWatched = false;
    expect(channels.wants('logs')).toBe(false);
  });
});

describe('a collector', () => {
  async function collector(answer: number | undefined) {
    const paths: string[] = [];
    const server = createServer((request, response) => {
      paths.push(request.url ?? '');
      if (answer !== undefined) response.writeHead(answer).end();
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => {
      server.closeAllConnections();
      server.close();
    });
    const lines: string[] = [];
    const logger = { log: (_level: string, message: string) => void lines.push(message) };
    const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    return { paths, lines, exporter: new HttpExporter({ endpoint, clock: systemClock, logger }) };
  }

  it('that takes nothing is complained about once, for the complaint goes there, too', async () => {
    const { paths, lines, exporter } = await collector(400);
    for (let batch = 0; batch < 3; batch += 1) exporter.traces({ batch });
    await expect.poll(() => paths.length).toBe(3);
    await exporter.close();
    expect(lines).toHaveLength(1);
  });

  it('that cannot be reached is complained about once, without what the address says of the one who asks', async () => {
    const lines: unknown[] = [];
    const logger = { log: (...line: unknown[]) => void lines.push(line) };
    const clock = new FakeClock();
    const exporter = new HttpExporter({ endpoint: 'http://me:hunter2@127.0.0.1:1', clock, logger });
    exporter.traces({});
    await expect.poll(() => lines.length, { timeout: 10_000 }).toBe(1);
    await expect.poll(() => clock.pending, { timeout: 10_000 }).toBe(1);
    await clock.advance(60_000);
    await exporter.close();
    expect(lines).toHaveLength(1);
    expect(JSON.stringify(lines)).not.toContain('hunter2');
  }, 20_000);

  it('that never answers does not hold up the end of the host, and gets nothing twice', async () => {
    const { paths, exporter } = await collector(undefined);
    exporter.traces({ batch: 1 });
    exporter.traces({ batch: 2 });
    await expect.poll(() => paths.length).toBe(1);
    await exporter.close();
    expect(paths).toHaveLength(1);
  }, 20_000);

  it('gets what is left when the host ends', async () => {
    const { paths, exporter } = await collector(200);
    exporter.traces({});
    exporter.metrics({});
    await exporter.close();
    expect(paths).toEqual(['/v1/traces', '/v1/metrics']);
  });
});
