/** What was said since the last batch, up to a limit, and who takes it: batches go out at a steady pace. */
import type { Clock } from '../core/util/clock.js';
import { MetricSet, type Named } from './metric-set.js';
import { type Attributes, type Interval, type LogRecordData, logs, metrics, type SpanRecord, traces } from './otlp.js';

/** What was gathered goes out at this pace. */
export const FLUSH_EVERY_MS = 1_000;
/** Of each kind, between two times; what comes on top is dropped and counted. */
export const PENDING_MAX = 5_000;

export type Signal = 'traces' | 'metrics' | 'logs';

/** Whoever takes what was gathered. */
export interface Sink {
  wants(signal: Signal): boolean;
  traces(payload: { resourceSpans: unknown[] }): void;
  metrics(payload: { resourceMetrics: unknown[] }): void;
  /** Log records come as they are, so that a sink can leave some out. */
  logs(
    records: readonly LogRecordData[],
    encode: (records: readonly LogRecordData[]) => { resourceLogs: unknown[] },
  ): void;
}

export class Batches {
  readonly #sinks: Sink[] = [];
  #spans: SpanRecord[] = [];
  #records: LogRecordData[] = [];
  readonly #metrics = new MetricSet(PENDING_MAX);
  #dropped = 0;
  #since = now();
  #disarm: (() => void) | undefined;

  /** `resource`: who says all this. */
  constructor(
    private readonly clock: Clock,
    private readonly resource: Attributes,
  ) {}

  addSink(sink: Sink): void {
    this.#sinks.push(sink);
  }

  isWanted(signal: Signal): boolean {
    return this.#sinks.some((sink) => sink.wants(signal));
  }

  addSpan(span: SpanRecord): void {
    this.#keep(this.#spans, span);
  }

  addRecord(record: LogRecordData): void {
    this.#keep(this.#records, record);
  }

  measure(named: Named, value: number): void {
    this.#metrics.measure(named, value);
    this.#arm();
  }

  count(named: Named, by: number): void {
    this.#metrics.count(named, by);
    this.#arm();
  }

  #keep<T>(list: T[], item: T): void {
    if (list.length < PENDING_MAX) list.push(item);
    else this.#dropped++;
    this.#arm();
  }

  #arm(): void {
    this.#disarm ??= this.clock.after(FLUSH_EVERY_MS, () => this.flush());
  }

  /** Hands on what was gathered. */
  flush(): void {
    this.#disarm?.();
    this.#disarm = undefined;
    const lost = { name: 'atrium.telemetry.dropped', unit: '{item}', attributes: {} };
    if (this.#dropped > 0) this.#metrics.count(lost, this.#dropped);
    const [spans, records, points] = [this.#spans, this.#records, this.#metrics.take()];
    const interval: Interval = { start: this.#since, end: now() };
    this.#spans = [];
    this.#records = [];
    this.#dropped = 0;
    this.#since = interval.end;
    for (const sink of this.#sinks) {
      if (spans.length > 0 && sink.wants('traces')) sink.traces(traces(this.resource, spans));
      if (points.length > 0 && sink.wants('metrics')) sink.metrics(metrics(this.resource, points, interval));
      if (records.length > 0 && sink.wants('logs')) sink.logs(records, (some) => logs(this.resource, some));
    }
  }
}

/** Finer than the host's clock, for what takes less than a millisecond. */
export function now(): number {
  return performance.timeOrigin + performance.now();
}
