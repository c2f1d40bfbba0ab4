/**
 * What the host does, for people who monitor it. Parts of the host report spans, measurements and log records; while
 * nothing subscribes, a report costs only a comparison. Prompt text, tool input and tokens are never reported.
 */
import { randomBytes } from 'node:crypto';
import type { Attributes, TelemetryReports } from '@atrium/core/contracts/telemetry.js';
import type { Clock } from '@atrium/core/util/clock.js';
import type { Logger } from '@atrium/core/util/logger.js';
import {
  BOUNDS,
  type Interval,
  type LogRecordData,
  logs,
  type MetricPoint,
  metrics,
  type SpanRecord,
  traces,
} from './otlp.js';

export interface SpanContext {
  readonly traceId: string;
  readonly spanId: string;
}

export interface Span {
  /** Undefined when no sink wants traces. */
  readonly context: SpanContext | undefined;
  end(outcome?: { readonly error?: string; readonly attributes?: Attributes }): void;
}

/** Attributes that tie spans of the same session or call together. */
const SESSION = 'ahp.session.id';
const CALL = 'ahp.tool_call.id';

const NO_SPAN: Span = { context: undefined, end: () => {} };

export interface TelemetryOptions {
  readonly clock: Clock;
  readonly serviceName?: string;
}

export class Telemetry implements TelemetryReports {
  readonly #batches: Batches;
  /** The open spans, by session or by session and call; spans that begin there become their children. */
  readonly #contexts = new Map<string, SpanContext>();

  constructor({ clock, serviceName = 'atrium' }: TelemetryOptions) {
    this.#batches = new Batches(clock, { 'service.name': serviceName, 'process.pid': process.pid });
  }

  addSink(sink: Sink): void {
    this.#batches.addSink(sink);
  }

  hears(signal: Signal): boolean {
    return this.#batches.isWanted(signal);
  }

  /** Its parent is the open span of the call, or of the session, that the attributes name. */
  span(name: string, attributes: Attributes): Span {
    if (!this.hears('traces')) return NO_SPAN;
    const parent = this.#parentOf(attributes);
    const context = { traceId: parent?.traceId ?? id(16), spanId: id(8) };
    const start = now();
    let isOpen = true;
    return {
      context,
      end: ({ error, attributes: more } = {}) => {
        if (!isOpen) return;
        isOpen = false;
        const whole = { ...attributes, ...more };
        const span = { ...context, parentSpanId: parent?.spanId, name, start, end: now(), attributes: whole };
        this.#batches.addSpan({ ...span, ...(error !== undefined && { error: cut(error) }) });
      },
    };
  }

  around<T>(
    name: string,
    attributes: Attributes,
    work: () => Promise<T>,
    failureIn: (result: T) => string | undefined = () => undefined,
  ): Promise<T> {
    if (!this.hears('traces') && !this.hears('metrics')) return work();
    const span = this.span(name, attributes);
    const start = now();
    const done = (error: string | undefined) => {
      span.end(error === undefined ? {} : { error });
      this.measure(`${name}.duration`, 'ms', now() - start, { ...attributes, error: error !== undefined });
    };
    return work().then(
      (result) => {
        done(failureIn(result));
        return result;
      },
      (error) => {
        done(kindOf(error));
        throw error;
      },
    );
  }

  /** Makes a span the parent of later spans of the same session or call. */
  enter(attributes: Attributes, { context }: Span): void {
    if (context) this.#contexts.set(placeOf(attributes), context);
  }

  leave(attributes: Attributes): void {
    this.#contexts.delete(placeOf(attributes));
  }

  #parentOf(attributes: Attributes): SpanContext | undefined {
    const { [SESSION]: session } = attributes;
    return this.#contexts.get(placeOf(attributes)) ?? this.#contexts.get(placeOf({ [SESSION]: session }));
  }

  measure(name: string, unit: string, value: number, attributes: Attributes = {}): void {
    if (this.hears('metrics')) this.#batches.measure({ name, unit, attributes: withoutIds(attributes) }, value);
  }

  count(name: string, unit: string, by = 1, attributes: Attributes = {}): void {
    if (this.hears('metrics')) this.#batches.count({ name, unit, attributes: withoutIds(attributes) }, by);
  }

  /** A logger that also reports everything as log records. */
  alongside(logger: Logger): Logger {
    return {
      hears: (level) => this.hears('logs') || (logger.hears?.(level) ?? true),
      log: (level, message, fields = {}) => {
        logger.log(level, message, fields);
        if (!this.hears('logs')) return;
        const shown = cut(withoutCodes(message));
        this.#batches.addRecord({ time: now(), severity: level, message: shown, attributes: cutAll(fields) });
      },
    };
  }

  /** Sends the current batch now. */
  flush(): void {
    this.#batches.flush();
  }
}

function placeOf({ [SESSION]: session, [CALL]: call }: Attributes): string {
  return `${session} ${call ?? ''}`;
}

function id(bytes: number): string {
  return randomBytes(bytes).toString('hex');
}

/** How often batches are sent. */
export const FLUSH_EVERY_MS = 1_000;
/** How many reports of each kind one batch holds; more are dropped and counted. */
export const PENDING_MAX = 5_000;

export type Signal = 'traces' | 'metrics' | 'logs';

/** Receives batches: a collector, or the clients. */
export interface Sink {
  wants(signal: Signal): boolean;
  traces(payload: { resourceSpans: unknown[] }): void;
  metrics(payload: { resourceMetrics: unknown[] }): void;
  /** Receives records before they are encoded, so that a sink can leave some out. */
  logs(
    records: readonly LogRecordData[],
    encode: (records: readonly LogRecordData[]) => { resourceLogs: unknown[] },
  ): void;
}

/** Collects reports up to a limit, and hands them to the sinks at a steady pace. */
class Batches {
  readonly #sinks: Sink[] = [];
  #spans: SpanRecord[] = [];
  #records: LogRecordData[] = [];
  readonly #metrics = new MetricSet(PENDING_MAX);
  #dropped = 0;
  #since = now();
  #disarm: (() => void) | undefined;

  /** `resource`: the attributes of this host. */
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

  /** Sends the current batch now. */
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

/** Milliseconds since the epoch, with finer resolution than the host's clock. */
function now(): number {
  return performance.timeOrigin + performance.now();
}

interface Named {
  readonly name: string;
  readonly unit: string;
  readonly attributes: Attributes;
}

interface Distribution extends Named {
  readonly kind: 'histogram';
  count: number;
  sum: number;
  min: number;
  max: number;
  readonly buckets: number[];
}

interface Sum extends Named {
  readonly kind: 'count';
  value: number;
}

/** Counts and distributions of one interval, by name and attributes. */
class MetricSet {
  #points = new Map<string, Distribution | Sum>();

  /** `max`: further series are left out. */
  constructor(private readonly max: number) {}

  measure(named: Named, value: number): void {
    const point = this.#point(named, () => ({
      ...named,
      ...{ kind: 'histogram' as const, count: 0, sum: 0, min: value, max: value },
      buckets: new Array<number>(BOUNDS.length + 1).fill(0),
    }));
    if (point?.kind !== 'histogram') return;
    point.count++;
    point.sum += value;
    point.min = Math.min(point.min, value);
    point.max = Math.max(point.max, value);
    const above = BOUNDS.findIndex((bound) => value <= bound);
    const index = above < 0 ? BOUNDS.length : above;
    point.buckets[index] = (point.buckets[index] ?? 0) + 1;
  }

  count(named: Named, by: number): void {
    const point = this.#point(named, () => ({ ...named, kind: 'count' as const, value: 0 }));
    if (point?.kind === 'count') point.value += by;
  }

  take(): MetricPoint[] {
    const points = [...this.#points.values()];
    this.#points = new Map();
    return points;
  }

  #point(named: Named, make: () => Distribution | Sum): Distribution | Sum | undefined {
    const key = JSON.stringify([named.name, named.attributes]);
    const present = this.#points.get(key);
    if (present || this.#points.size >= this.max) return present;
    const point = make();
    this.#points.set(key, point);
    return point;
  }
}

/** Longer texts, such as errors, are cut. */
const TEXT_MAX_CHARACTERS = 500;
/** Pairing codes that the host shows on its console. */
const PAIRING_CODE = /\b\d{3} \d{3}\b/g;

function withoutCodes(text: string): string {
  return text.replaceAll(PAIRING_CODE, '[hidden]');
}

/** Each id would create a series of its own, but metrics are about kinds, not single sessions. */
function withoutIds(attributes: Attributes): Attributes {
  return Object.fromEntries(Object.entries(attributes).filter(([key]) => !key.endsWith('.id')));
}

/** The kind of a failure, in a word. */
export function kindOf(error: unknown): string {
  if (!(error instanceof Error)) return 'failed';
  const { errorType, code } = error as { errorType?: unknown; code?: unknown };
  return String(errorType ?? code ?? error.name);
}

function cutAll(attributes: Attributes): Attributes {
  const entries = Object.entries(attributes);
  return Object.fromEntries(entries.map(([key, value]) => [key, typeof value === 'string' ? cut(value) : value]));
}

function cut(text: string): string {
  return text.length <= TEXT_MAX_CHARACTERS ? text : `${text.slice(0, TEXT_MAX_CHARACTERS)}…`;
}
