/** Telemetry over channels and to a collector: what is told, to whom, and what never is. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Extension } from '@atrium/core/contracts/extension.js';
import { MemoryLog } from '@atrium/core/log/memory-log.js';
import type { Logger } from '@atrium/core/util/logger.js';
import { afterEach, describe, expect, it, onTestFinished } from 'vitest';
import { createHost } from '../../src/host.js';
import type { Host, HostOptions } from '../../src/host-options.js';
import { FLUSH_EVERY_MS } from '../../src/telemetry/telemetry.js';
import { hostTool, succeeded } from '../../src/workspace/tools/host-tool.js';
import { PuppetAgent } from '../support/puppet-agent.js';
import { openPuppetFixture } from '../support/session-fixture.js';
import { type Message, RawClient, settle } from '../support/test-host.js';
import { TestProvider } from '../support/test-provider.js';

const TRACES = 'ahp-otlp://traces';
const METRICS = 'ahp-otlp://metrics';

interface Attribute {
  key: string;
  value: Record<string, unknown>;
}
interface SpanJson {
  name: string;
  spanId: string;
  parentSpanId?: string;
  traceId: string;
  startTimeUnixNano: string;
  endTimeUnixNano: string;
  attributes: Attribute[];
  status: { code?: number; message?: string };
}

interface TracesParams {
  payload: { resourceSpans: { scopeSpans: { spans: SpanJson[] }[] }[] };
}

const readTool = hostTool({
  name: 'peek',
  displayName: 'Peek',
  description: 'Looks.',
  annotations: { readOnlyHint: true },
  properties: { secret: { type: 'string' } },
  required: [],
  invocation: () => 'Peek',
  run: async () => succeeded('Peeked', 'the secret content'),
});

const gatekeeper: Extension = {
  id: 'gatekeeper',
  name: 'gatekeeper',
  gates: [{ name: 'gatekeeper', concerns: () => true, check: async () => ({ kind: 'pass' }) }],
};

describe('telemetry', () => {
  let host: Host;
  afterEach(() => host.stop());

  async function fixture(options: Partial<HostOptions> = {}) {
    const agent = new PuppetAgent();
    host = await createHost({
      log: new MemoryLog(),
      agents: [agent],
      tools: [readTool],
      extensions: [gatekeeper],
      ...options,
    });
    const connect = async (clientId: string) => {
      const client = new RawClient();
      host.connect(client.transport);
      return { client, greeting: await client.initialize(clientId) };
    };
    const { client, greeting } = await connect('desk');
    const turn = async (index: number) => {
      client.dispatch('ahp-session:/a', {
        type: 'session/turnStarted',
        turnId: `t${index}`,
        userMessage: { text: 'the secret question' },
      } as never);
      const { turn: running, finish } = await agent.turn(index);
      await running.callTool({ name: 'peek', input: { secret: 'the secret input' } });
      finish();
      await client.action(
        'ahp-session:/a',
        ({ type, turnId }) => type === 'session/turnComplete' && turnId === `t${index}`,
      );
    };
    return { client, greeting, connect, turn };
  }

  const spansIn = (messages: readonly Message[]): SpanJson[] =>
    messages
      .filter(({ method }) => method === 'otlp/exportTraces')
      .flatMap(({ params }) => (params as unknown as TracesParams).payload.resourceSpans)
      .flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans));
  const attribute = (span: SpanJson | undefined, key: string) =>
    span?.attributes.find((one) => one.key === key)?.value.stringValue;

  it('[AHP-216] [AHP-217] says which channels there are, with a level for logs alone', async () => {
    const { client, greeting } = await fixture();
    expect(greeting.telemetry).toEqual({ logs: 'ahp-otlp://logs{?level}', traces: TRACES, metrics: METRICS });
    for (const level of ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'Fatal']) {
      expect(await client.request('subscribe', { channel: `ahp-otlp://logs?level=${level}` })).toEqual({});
    }
    for (const uri of ['ahp-otlp://logs?level=', 'ahp-otlp://logs?since=1', `${TRACES}?level=info`]) {
      expect((await client.ask('subscribe', { channel: uri })).error?.code, uri).toBe(-32008);
    }
  });

  it('[UP-179] is the same for a client of 1.0', async () => {
    await fixture();
    const native = new RawClient();
    host.connect(native.transport);
    const greeting = await native.initialize('native', { protocolVersions: ['1.0.0'] });
    expect(greeting.telemetry).toEqual({ logs: 'ahp-otlp://logs{?level}', traces: TRACES, metrics: METRICS });
    expect(await native.request('subscribe', { channel: 'ahp-otlp://logs?level=warn' })).toEqual({});
  });

  it('[AHP-219] [AHP-220] answers {} to a subscription and then sends OTLP/JSON batches, none from before', async () => {
    const { client, turn } = await fixture();
    await client.session('ahp-session:/a');
    await turn(0);
    expect(await client.request('subscribe', { channel: TRACES })).toEqual({});
    await turn(1);
    const { params } = await client.until(({ method }) => method === 'otlp/exportTraces');
    expect(params?.channel).toBe(TRACES);
    const spans = spansIn(client.received);
    expect(new Set(spans.map((span) => attribute(span, 'ahp.turn.id')))).toEqual(new Set(['t1']));
    for (const { startTimeUnixNano, endTimeUnixNano, traceId, spanId } of spans) {
      expect(BigInt(endTimeUnixNano)).toBeGreaterThanOrEqual(BigInt(startTimeUnixNano));
      expect([traceId.length, spanId.length]).toEqual([32, 16]);
    }
  });

  it('[AHP-221] ties gates to their call, the call to its turn, and names all of them', async () => {
    const { client, turn } = await fixture();
    await client.session('ahp-session:/a');
    await client.request('subscribe', { channel: TRACES });
    await turn(0);
    await client.until(({ method }) => method === 'otlp/exportTraces');
    const spans = spansIn(client.received);
    const [turnSpan, call, gate] = ['atrium.turn', 'atrium.tool_call', 'atrium.gate'].map((name) =>
      spans.find((span) => span.name === name),
    );
    expect([turnSpan?.parentSpanId, turnSpan?.spanId, call?.spanId]).toEqual([
      undefined,
      expect.any(String),
      expect.any(String),
    ]);
    expect(call?.parentSpanId).toBe(turnSpan?.spanId);
    expect(gate?.parentSpanId).toBe(call?.spanId);
    for (const span of [turnSpan, call]) expect(attribute(span, 'ahp.turn.id')).toBe('t0');
    expect(attribute(call, 'ahp.tool_call.id')).toBeTypeOf('string');
    expect(new Set(spans.map(({ traceId }) => traceId)).size).toBe(1);
    expect(attribute(call, 'ahp.session.id')).toBe('ahp-session:/a');
    expect(attribute(call, 'gen_ai.tool.name')).toBe('peek');
    expect(attribute(gate, 'ahp.tool_call.id')).toBe(attribute(call, 'ahp.tool_call.id'));
    const resource = JSON.stringify(client.received.find(({ method }) => method === 'otlp/exportTraces'));
    expect(resource).toContain('"key":"service.name","value":{"stringValue":"atrium"}');
  });

  it('has spans of calls to providers, failed ones too, inside of their turn', async () => {
    const provided = await openPuppetFixture();
    host = provided.host.host;
    await provided.client.request('subscribe', { channel: TRACES });
    const tool = { name: 'ci_status', description: 'Tells how CI is doing.', parameters: {} };
    const provider = await TestProvider.bound(provided.host, { tools: [tool] });
    const outcome = provided.puppet.turn.callTool({ name: 'ci_status', input: {} });
    const call = await provider.next('tool.call');
    provider.send({ type: 'tool.result', id: call.id, error: 'broken' });
    await outcome;
    provided.clock.advance(FLUSH_EVERY_MS);
    const span = spansIn(provided.client.received).find(({ name }) => name === 'atrium.provider.call');
    expect([attribute(span, 'atrium.provider'), span?.status.code]).toEqual(['ci', 2]);
  });

  it('[AHP-220] measures turns, calls, gates, fan-out and commits, without a series per session', async () => {
    const { client, turn } = await fixture();
    await client.session('ahp-session:/a');
    await client.request('subscribe', { channel: METRICS });
    await turn(0);
    const { params } = await client.until(({ method }) => method === 'otlp/exportMetrics');
    expect([params?.channel, Object.keys(params?.payload ?? {})]).toEqual([METRICS, ['resourceMetrics']]);
    const text = JSON.stringify(params);
    for (const name of ['turn', 'tool_call', 'gate', 'fanout', 'log.commit']) {
      expect(text).toContain(`"atrium.${name}.duration"`);
    }
    expect(text).not.toContain('ahp-session:/a');
  });

  it('[AHP-218] carries log records of a level and above, whatever the case of the level', async () => {
    const lines: string[] = [];
    const logger: Logger = { log: (_level, message) => void lines.push(message) };
    const { client, connect } = await fixture({ logger });
    const { client: phone } = await connect('phone');
    expect(await client.request('subscribe', { channel: 'ahp-otlp://logs?level=WARN' })).toEqual({});
    for (const channel of ['ahp-otlp://logs', 'ahp-otlp://logs?level=fatal'])
      expect(await phone.request('subscribe', { channel })).toEqual({});
    expect((await client.ask('subscribe', { channel: 'ahp-otlp://logs?level=loud' })).error?.code).toBe(-32008);
    await client.session('ahp-session:/a');
    client.send({ method: 'dispatchAction', params: { channel: 'ahp-session:/a', clientSeq: -1, action: {} } });
    const { params } = await phone.until(({ method }) => method === 'otlp/exportLogs');
    expect([params?.channel, Object.keys(params?.payload ?? {})]).toEqual(['ahp-otlp://logs', ['resourceLogs']]);
    await client.until(({ method }) => method === 'otlp/exportLogs');
    const severities = (client: RawClient) =>
      [...JSON.stringify(client.received).matchAll(/"severityNumber":(\d+)/g)].map(([, number]) => Number(number));
    expect(Math.min(...severities(client))).toBeGreaterThanOrEqual(13);
    expect(Math.min(...severities(phone))).toBeLessThan(13);
    // Each level is a subscription of its own, and nothing was fatal.
    const channels = phone.received.flatMap(({ method, params }) =>
      method === 'otlp/exportLogs' ? params?.channel : [],
    );
    expect(new Set(channels)).toEqual(new Set(['ahp-otlp://logs']));
    expect(lines).toContain('session created');
  });

  it('never says what was asked, typed or read', async () => {
    const { client, turn, connect } = await fixture();
    const { client: phone } = await connect('phone');
    await client.session('ahp-session:/a');
    for (const channel of [TRACES, METRICS, 'ahp-otlp://logs']) await phone.request('subscribe', { channel });
    await turn(0);
    await phone.until(({ method }) => method === 'otlp/exportMetrics');
    expect(JSON.stringify(phone.received)).not.toContain('secret');
  });

  it('is not sent to those who left', async () => {
    const { client, turn } = await fixture();
    await client.session('ahp-session:/a');
    await client.request('subscribe', { channel: TRACES });
    client.send({ method: 'unsubscribe', params: { channel: TRACES } });
    await turn(0);
    await settle();
    await new Promise((resolve) => setTimeout(resolve, 1_200));
    expect(spansIn(client.received)).toEqual([]);
  });

  it('goes to a collector by HTTP, waits for one that is busy, and survives one that is away', async () => {
    const bodies: { path: string; body: string; key: string }[] = [];
    let busy = 1;
    const collector = await listening((path, body, headers) => {
      if (busy-- > 0) return 503;
      bodies.push({ path, body, key: String(headers['x-key']) });
      return 200;
    });
    const { client, turn } = await fixture({
      telemetry: { endpoint: `${collector}/`, headers: { 'x-key': 'k' }, serviceName: 'my-host' },
    });
    await client.session('ahp-session:/a');
    await turn(0);
    await expect.poll(() => bodies.map(({ path }) => path), { timeout: 8_000 }).toContain('/v1/traces');
    await expect.poll(() => new Set(bodies.map(({ path }) => path)).size, { timeout: 8_000 }).toBe(3);
    expect(bodies[0]?.key).toBe('k');
    expect(bodies.map(({ body }) => body).join('')).toContain('"stringValue":"my-host"');
    expect(bodies.map(({ body }) => body).join('')).not.toContain('secret');
  });

  it('does not hold up the end of a host whose collector is away', async () => {
    const { client, turn } = await fixture({ telemetry: { endpoint: 'http://127.0.0.1:1' } });
    await client.session('ahp-session:/a');
    await turn(0);
    await host.stop();
  }, 20_000);
});

type Handler = (path: string, body: string, headers: Readonly<Record<string, unknown>>) => number;

async function listening(handler: Handler): Promise<string> {
  const server: Server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      response.statusCode = handler(request.url ?? '', Buffer.concat(chunks).toString(), request.headers);
      response.end('{}');
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
