/** Telemetry for clients: channels without state that carry batches in OTLP/JSON from the moment somebody subscribes. */
import { type Channel, Channel as PlainChannel } from '../core/channels/channel.js';
import type { HostCore, OpenChannel } from '../core/contracts/host-core.js';
import type { Service } from '../core/contracts/service.js';
import type { Signal, Sink } from './batches.js';
import { type LogRecordData, SEVERITIES, type Severity } from './otlp.js';

const TRACES = 'ahp-otlp://traces';
const METRICS = 'ahp-otlp://metrics';
const LOGS = 'ahp-otlp://logs';

export class TelemetryChannels implements Service, Sink {
  readonly scheme = 'ahp-otlp:';
  readonly greeting = { telemetry: { logs: `${LOGS}{?level}`, traces: TRACES, metrics: METRICS } };
  readonly #core: Pick<HostCore, 'notify' | 'isWatched'>;
  /** Every spelling of a channel that somebody asked for, and the least severity it carries. Perhaps nobody stayed. */
  readonly #logs = new Map<string, number>();

  constructor(core: Pick<HostCore, 'notify' | 'isWatched'>) {
    this.#core = core;
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
    if (signal === 'logs') return [...this.#logs.keys()].some((uri) => this.#core.isWatched(uri));
    return this.#core.isWatched(signal === 'traces' ? TRACES : METRICS);
  }

  traces(payload: object): void {
    this.#core.notify(TRACES, 'otlp/exportTraces', { payload });
  }

  metrics(payload: object): void {
    this.#core.notify(METRICS, 'otlp/exportMetrics', { payload });
  }

  logs(records: readonly LogRecordData[], encode: (records: readonly LogRecordData[]) => object): void {
    for (const [uri, least] of this.#logs) {
      const wanted = records.filter(({ severity }) => SEVERITIES[severity] >= least);
      if (wanted.length > 0) this.#core.notify(uri, 'otlp/exportLogs', { payload: encode(wanted) });
    }
  }
}

/** The template `ahp-otlp://logs{?level}`, expanded with a level or without. */
function leastSeverity(uri: string): number | undefined {
  if (uri === LOGS) return SEVERITIES.trace;
  const level = /^ahp-otlp:\/\/logs\?level=([A-Za-z]+)$/.exec(uri)?.[1]?.toLowerCase();
  return level !== undefined && level in SEVERITIES ? SEVERITIES[level as Severity] : undefined;
}

function stateless(uri: string): OpenChannel {
  const channel: Channel = new PlainChannel<unknown>(uri, (state) => state, undefined, { isPassing: true });
  return {
    channel,
    takeSnapshot: () => ({ snapshot: undefined }),
    dispatch: async (_action, origin, { connection, original }) =>
      connection.reject(original, origin, 'nothing can be dispatched on a telemetry channel'),
  };
}
