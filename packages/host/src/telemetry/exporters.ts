/**
 * Where telemetry goes: to a collector by OTLP over HTTP, in JSON, and to clients that subscribe to its channels. A
 * slow or absent collector costs only a bounded queue: the exporter drops what does not fit, and the host continues.
 */
import { type Channel, Channel as PlainChannel } from '@atrium/core/channels/channel.js';
import type { OpenChannel } from '@atrium/core/channels/open-channel.js';
import type { Service } from '@atrium/core/sessions/service.js';
import { type Clock, systemClock } from '@atrium/core/util/clock.js';
import type { Logger } from '@atrium/core/util/logger.js';
import { succeedsWithin } from '@atrium/core/util/waiting.js';
import { type LogRecordData, SEVERITIES, type Severity } from './otlp.js';
import { kindOf, type Signal, type Sink } from './telemetry.js';

export const EXPORT_TIMEOUT_MS = 10_000;
export const EXPORT_QUEUE_MAX_BYTES = 4 * 2 ** 20;
/** How long a stopping host waits for the rest of the queue. */
export const EXPORT_CLOSE_MAX_MS = 2_000;
export const EXPORT_RETRY_MS = 1_000;
export const EXPORT_RETRY_MAX_MS = 30_000;
/** Status codes that ask for a later attempt. */
const RETRYABLE: ReadonlySet<number> = new Set([429, 502, 503, 504]);

interface HttpExporterOptions {
  /** The base URL, such as `http://127.0.0.1:4318`; `/v1/traces` and so on are appended. */
  readonly endpoint: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly clock: Clock;
  readonly logger: Logger;
}

interface Batch {
  readonly path: string;
  readonly body: string;
}

export class HttpExporter implements Sink {
  readonly #options: HttpExporterOptions;
  readonly #base: string;
  readonly #queue: Batch[] = [];
  #bytes = 0;
  #sending: Promise<void> | undefined;
  /**
   * A failure was logged since the last success. Log records are exported, too, so each one must not cause the next.
   */
  #hasComplained = false;
  #isClosed = false;
  #failures = 0;
  #disarm: (() => void) | undefined;
  readonly #abort = new AbortController();

  constructor(options: HttpExporterOptions) {
    this.#options = options;
    this.#base = options.endpoint.replace(/\/+$/, '');
  }

  wants(): boolean {
    return !this.#isClosed;
  }

  traces(payload: object): void {
    this.#put('/v1/traces', payload);
  }

  metrics(payload: object): void {
    this.#put('/v1/metrics', payload);
  }

  logs(records: readonly LogRecordData[], encode: (records: readonly LogRecordData[]) => object): void {
    this.#put('/v1/logs', encode(records));
  }

  /** Gives the rest of the queue a moment to be sent. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#disarm?.();
    this.#disarm = undefined;
    this.#sending ??= this.#send();
    await succeedsWithin(systemClock, EXPORT_CLOSE_MAX_MS, this.#sending);
    this.#abort.abort();
  }

  #put(path: string, payload: object): void {
    const body = JSON.stringify(payload);
    if (this.#bytes + body.length > EXPORT_QUEUE_MAX_BYTES) return;
    this.#queue.push({ path, body });
    this.#bytes += body.length;
    if (!this.#disarm) this.#sending ??= this.#send();
  }

  async #send(): Promise<void> {
    for (let batch = this.#queue[0]; batch; batch = this.#queue[0]) {
      if ((await this.#post(batch)) === 'later') {
        this.#again();
        break;
      }
      this.#queue.shift();
      this.#bytes -= batch.body.length;
    }
    this.#sending = undefined;
  }

  #again(): void {
    if (this.#isClosed) return;
    const wait = Math.min(EXPORT_RETRY_MS * 2 ** Math.min(this.#failures, 10), EXPORT_RETRY_MAX_MS);
    this.#failures++;
    this.#disarm = this.#options.clock.after(wait, () => {
      this.#disarm = undefined;
      this.#sending ??= this.#send();
    });
  }

  async #post({ path, body }: Batch): Promise<'done' | 'later'> {
    const { headers } = this.#options;
    try {
      const answer = await fetch(`${this.#base}${path}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body,
        redirect: 'error',
        signal: AbortSignal.any([this.#abort.signal, AbortSignal.timeout(EXPORT_TIMEOUT_MS)]),
      });
      await answer.body?.cancel();
      if (RETRYABLE.has(answer.status)) return 'later';
      if (answer.ok) this.#hasComplained = false;
      else this.#complain('does not take what it gets', { status: answer.status });
      this.#failures = 0;
      return 'done';
    } catch (error) {
      // Logs only the kind of the error, because its message may quote the address, and with it a password.
      if (!this.#isClosed)
        this.#complain('cannot be reached, and is tried again', { error: kindOf((error as Error).cause ?? error) });
      return 'later';
    }
  }

  #complain(what: string, fields: Readonly<Record<string, string | number>>): void {
    if (!this.#hasComplained) this.#options.logger.log('warn', `the telemetry collector ${what}`, fields);
    this.#hasComplained = true;
  }
}

/** The part of the host that telemetry needs to reach clients. */
export interface ClientChannels {
  isWatched(uri: string): boolean;
  /** Sends a notification to every client that subscribes to a channel. */
  notify(uri: string, method: string, params: object): void;
}

const TRACES = 'ahp-otlp://traces';
const METRICS = 'ahp-otlp://metrics';
const LOGS = 'ahp-otlp://logs';

/** Channels without state that carry batches in OTLP/JSON to the clients that subscribe. */
export class TelemetryChannels implements Service, Sink {
  readonly scheme = 'ahp-otlp:';
  readonly greeting = { telemetry: { logs: `${LOGS}{?level}`, traces: TRACES, metrics: METRICS } };
  readonly #clients: ClientChannels;
  /** The URIs under which clients opened the channel of logs, and the lowest severity for each. */
  readonly #logs = new Map<string, number>();

  constructor(clients: ClientChannels) {
    this.#clients = clients;
  }

  open(uri: string): OpenChannel | undefined {
    if (uri === TRACES || uri === METRICS) return stateless(uri);
    const least = leastSeverity(uri);
    if (least === undefined) return undefined;
    this.#logs.set(uri, least);
    return stateless(uri);
  }

  unwatched(uri: string): void {
    this.#logs.delete(uri);
  }

  wants(signal: Signal): boolean {
    if (signal === 'logs') return [...this.#logs.keys()].some((uri) => this.#clients.isWatched(uri));
    return this.#clients.isWatched(signal === 'traces' ? TRACES : METRICS);
  }

  traces(payload: object): void {
    this.#clients.notify(TRACES, 'otlp/exportTraces', { payload });
  }

  metrics(payload: object): void {
    this.#clients.notify(METRICS, 'otlp/exportMetrics', { payload });
  }

  logs(records: readonly LogRecordData[], encode: (records: readonly LogRecordData[]) => object): void {
    for (const [uri, least] of this.#logs) {
      const wanted = records.filter(({ severity }) => SEVERITIES[severity] >= least);
      if (wanted.length > 0) this.#clients.notify(uri, 'otlp/exportLogs', { payload: encode(wanted) });
    }
  }
}

/** Parses a URI of the template `ahp-otlp://logs{?level}`, with or without a level. */
function leastSeverity(uri: string): number | undefined {
  if (uri === LOGS) return SEVERITIES.trace;
  const level = /^ahp-otlp:\/\/logs\?level=([A-Za-z]+)$/.exec(uri)?.[1]?.toLowerCase();
  return level !== undefined && level in SEVERITIES ? SEVERITIES[level as Severity] : undefined;
}

function stateless(uri: string): OpenChannel {
  const channel: Channel = new PlainChannel<unknown>(uri, (state) => state, undefined, { isEphemeral: true });
  return {
    channel,
    takeSnapshot: () => ({ snapshot: undefined }),
    dispatch: async (_action, origin, asker) =>
      asker.reject(origin, 'nothing can be dispatched on a telemetry channel'),
  };
}
